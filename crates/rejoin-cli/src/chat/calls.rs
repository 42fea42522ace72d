//! Tool calls of a live turn: one line each, with what became of it.

use std::io::Write;
use std::time::{Duration, Instant};

use crate::{style, tty};

/// Shorter ones need no time beside them.
const NOTABLE: Duration = Duration::from_secs(1);

/// The calls that have not come back.
#[derive(Default)]
pub(crate) struct Calls {
    waiting: Vec<Call>,
    /// The line of the last one is still the last on the screen, and not ended.
    open: bool,
}

struct Call {
    id: String,
    words: String,
    begun: Instant,
}

impl Calls {
    /// A tool is called.
    pub(crate) fn begin(&mut self, id: &str, name: &str, words: &str) {
        self.interrupt();
        let words = format!("{} {}", style::one_line(name, 30), style::one_line(words, 200));
        let call = Call { id: id.to_owned(), words: words.trim_end().to_owned(), begun: Instant::now() };
        if style::dumb() {
            style::talk(&format!("  ⚙ {}", call.words));
        } else {
            self.write(&line('⚙', &call.words, "", ""));
            self.open = true;
        }
        self.waiting.push(call);
    }

    /// It gave something back.
    pub(crate) fn end(&mut self, id: &str, output: &str, error: bool) {
        let Some(at) = self.waiting.iter().position(|call| call.id == id) else { return };
        let is_last = at + 1 == self.waiting.len();
        let call = self.waiting.remove(at);
        let took = Some(call.begun.elapsed()).filter(|took| *took >= NOTABLE);
        let took = took.map(|took| style::elapsed(took.as_millis() as u64)).unwrap_or_default();
        let failure = if error { output } else { "" };
        let line = line(if error { '✗' } else { '✓' }, &call.words, &took, failure);
        if self.open && is_last {
            // In place of the line that said that it was called.
            let _ = std::io::stderr().write_all(b"\r\x1b[K");
            self.open = false;
        } else {
            self.interrupt();
        }
        self.write(&line);
        self.write("\n");
    }

    /// Something else wants the screen.
    pub(crate) fn interrupt(&mut self) {
        if std::mem::take(&mut self.open) {
            self.write("\n");
        }
    }

    #[allow(clippy::unused_self, reason = "only who keeps count of the screen may write on it")]
    fn write(&self, text: &str) {
        let mut stderr = std::io::stderr().lock();
        let _ = if style::colour() && text != "\n" {
            write!(stderr, "\u{1b}[2m{text}\u{1b}[0m")
        } else {
            write!(stderr, "{text}")
        };
    }
}

/// `  ✗ shell cargo test · 2.10 s · error: could not compile`, never wider than the terminal.
fn line(mark: char, words: &str, took: &str, failure: &str) -> String {
    let width = tty::columns().min(100).saturating_sub(1);
    let failure = style::one_line(failure, 40);
    let notes: String =
        [took, &failure].iter().filter(|note| !note.is_empty()).map(|note| format!(" · {note}")).collect();
    let room = width.saturating_sub(4 + unicode_width::UnicodeWidthStr::width(notes.as_str()));
    format!("  {mark} {}{notes}", style::one_line(words, room))
}
