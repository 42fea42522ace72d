//! What is said when rejoin itself breaks. The message may quote anything, so it goes the way of all that is
//! printed; the standard library's own would not.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::panic::PanicHookInfo;

use crate::screen::{self, Style};

/// From here on panics are told by [`screen`].
pub(crate) fn tell_by_screen() {
    std::panic::set_hook(Box::new(|panic| {
        screen::say_line(Style::PLAIN, &words(panic));
        // As with the hook of the standard library: if RUST_BACKTRACE asks for it.
        let trace = Backtrace::capture();
        if trace.status() == BacktraceStatus::Captured {
            screen::say_line(Style::PLAIN, &trace.to_string());
        }
    }));
}

fn words(panic: &PanicHookInfo<'_>) -> String {
    let thread = std::thread::current();
    let place = panic.location().map(|place| format!(" at {place}")).unwrap_or_default();
    format!(
        "rejoin: this is a bug in rejoin: thread {:?} panicked{place}: {}",
        thread.name().unwrap_or("without a name"),
        panic.payload_as_str().unwrap_or("(no message)")
    )
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;
    use crate::screen::Painted;

    #[test]
    fn a_panic_tells_what_and_where_and_commands_no_terminal() {
        let (told, said) = channel();
        let ours = std::thread::spawn(move || {
            std::panic::set_hook(Box::new(move |panic| {
                let _ = told.send(Painted::from(words(panic)).as_str().to_owned());
            }));
            panic!("quoted: \u{1b}]0;title\u{7}");
        });
        assert!(ours.join().is_err());
        drop(std::panic::take_hook());
        let said = said.recv().unwrap();
        assert!(said.contains("panics.rs:") && said.contains("quoted: "), "{said}");
        assert!(!said.contains(['\u{1b}', '\u{7}']), "{said:?}");
    }

    #[test]
    fn that_is_how_the_command_begins() {
        let main = include_str!("main.rs").split_once("fn main()").unwrap().1;
        assert!(main.find("panics::tell_by_screen()").unwrap() < main.find("match").unwrap());
    }
}
