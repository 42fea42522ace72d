//! Long output through a pager, as git does it: only on a terminal, and only where it does not fit.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::sync::Arc;

use clap::Args;
use signal_hook::consts::SIGINT;
use unicode_width::UnicodeWidthStr;

use crate::screen::{self, Painted};
use crate::{style, tty};

/// For commands whose output may be long.
#[derive(Args, Clone, Copy, Default)]
pub(crate) struct PagerArgs {
    /// Do not show long output through $PAGER
    #[arg(long)]
    pub(crate) no_pager: bool,
}

/// What pagers are told unless the user told them something else: end where all fits on the screen, keep colours,
/// leave the text on the screen.
const SETTINGS: [(&str, &str); 2] = [("LESS", "FRX"), ("LV", "-c")];

impl PagerArgs {
    /// Prints what is meant for people, through a pager if it is longer than the screen.
    pub(crate) fn print(self, text: &Painted) -> anyhow::Result<()> {
        let is_long = || rows(text.as_str(), tty::columns()) >= tty::rows();
        if self.no_pager || !tty::on_stdout() || style::dumb() || !is_long() {
            return screen::print(text.clone());
        }
        match chosen(std::env::var("PAGER").ok()) {
            Some(pager) if through(&pager, text) => Ok(()),
            _ => screen::print(text.clone()),
        }
    }
}

/// The pager that the user chose, else the usual one; `None` if none is wanted.
fn chosen(wish: Option<String>) -> Option<String> {
    let pager = wish.unwrap_or_else(|| "less".to_owned());
    let pager = pager.trim();
    (!pager.is_empty() && pager != "cat").then(|| pager.to_owned())
}

/// Whether the text was shown: a pager that cannot be started has shown nothing.
fn through(pager: &str, text: &Painted) -> bool {
    /// What a shell says of a program that it cannot run, and of one that it cannot find.
    const NOT_RUN: [i32; 2] = [126, 127];
    // Ctrl-C is the pager's, as long as it runs.
    let ours = signal_hook::flag::register(SIGINT, Arc::default());
    let mut command = Command::new("sh");
    command.args(["-c", pager]).stdin(Stdio::piped());
    for (name, value) in SETTINGS {
        if std::env::var_os(name).is_none() {
            command.env(name, value);
        }
    }
    let shown = command.spawn().and_then(|mut child| {
        if let Some(mut stdin) = child.stdin.take() {
            // Whoever leaves it early has seen enough.
            let _ = stdin.write_all(text.as_str().as_bytes());
        }
        child.wait()
    });
    if let Ok(ours) = ours {
        signal_hook::low_level::unregister(ours);
    }
    shown.is_ok_and(|status| !status.code().is_some_and(|code| NOT_RUN.contains(&code)))
}

/// How many rows of a screen a text takes up.
fn rows(text: &str, columns: usize) -> usize {
    text.lines().map(|line| bare_width(line).div_ceil(columns.max(1)).max(1)).sum()
}

/// The width of a line without its styles, which end with an `m`.
fn bare_width(line: &str) -> usize {
    let mut parts = line.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().width();
    first + parts.map(|part| part.split_once('m').map_or(0, |(_, text)| text.width())).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_those_of_the_screen_and_styles_take_none() {
        assert_eq!(rows("one\n\nthree", 80), 3);
        assert_eq!(rows("0123456789\u{1b}[2mm0\u{1b}[0m", 10), 2);
        assert_eq!(rows("\u{1b}[2m0123456789\u{1b}[0m\n", 10), 1);
    }

    #[test]
    fn whoever_wants_no_pager_gets_none() {
        assert_eq!(chosen(None).as_deref(), Some("less"));
        assert_eq!(chosen(Some("most -s".into())).as_deref(), Some("most -s"));
        assert_eq!(chosen(Some(" ".into())), None);
        assert_eq!(chosen(Some("cat".into())), None);
    }
}
