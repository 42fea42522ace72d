//! Tool calls of a live turn: one line each, with what became of it.

use std::time::{Duration, Instant};

use unicode_width::UnicodeWidthStr;

use crate::screen::{self, Cursor, Painted};
use crate::{style, tty};

/// Shorter ones need no time beside them.
const NOTABLE: Duration = Duration::from_secs(1);

/// Of more calls at a time than this, the oldest are forgotten.
const MOST: usize = 256;

/// The calls that have not come back.
#[derive(Default)]
pub(crate) struct ToolCallLines {
    waiting: Vec<Call>,
    /// The calls whose lines are the last ones on the screen, the newest last.
    lowest: Vec<String>,
}

struct Call {
    id: String,
    words: String,
    begun: Instant,
}

impl ToolCallLines {
    /// A tool is called.
    pub(crate) fn begin(&mut self, id: &str, name: &str, words: &str) {
        let call = Call { id: id.to_owned(), words: self::words(name, words), begun: Instant::now() };
        style::talk(&line('⚙', &call.words, "", ""));
        self.waiting.push(call);
        self.waiting.drain(..self.waiting.len().saturating_sub(MOST));
        self.lowest.push(id.to_owned());
        // What has left the screen cannot be reached any more.
        let reach = if style::dumb() { 0 } else { tty::rows().saturating_sub(1) };
        self.lowest.drain(..self.lowest.len().saturating_sub(reach));
    }

    /// It gave something back.
    pub(crate) fn end(&mut self, id: &str, output: &str, error: bool) {
        let Some(at) = self.waiting.iter().position(|call| call.id == id) else { return };
        let call = self.waiting.remove(at);
        let took = Some(call.begun.elapsed()).filter(|took| *took >= NOTABLE);
        let took = took.map(|took| style::elapsed(took.as_millis() as u64)).unwrap_or_default();
        let failure = if error { output } else { "" };
        self.say(id, &line(if error { '✗' } else { '✓' }, &call.words, &took, failure));
    }

    /// Says what became of a call in place of its line, or below if that is too far up.
    fn say(&mut self, id: &str, line: &str) {
        let Some(at) = self.lowest.iter().position(|lowest| lowest == id) else {
            self.interrupt();
            return style::talk(line);
        };
        let up = self.lowest.len() - at;
        let mut there = Painted::default();
        there.cursor(Cursor::Up(up));
        there.cursor(Cursor::ClearLine);
        screen::say(&there);
        style::talk(line);
        let mut back = Painted::default();
        back.cursor(Cursor::Down(up - 1));
        screen::say(&back);
    }

    /// Some have not come back.
    pub(crate) fn is_any_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// The turn is over: what has not come back never will.
    pub(crate) fn cancel(&mut self) {
        for call in std::mem::take(&mut self.waiting) {
            self.say(&call.id, &line('⊘', &call.words, "cancelled", ""));
        }
    }

    /// Something else was written below.
    pub(crate) fn interrupt(&mut self) {
        self.lowest.clear();
    }
}

/// `shell cargo test`: what is called, and with what.
pub(super) fn words(name: &str, about: &str) -> String {
    let words = format!("{} {}", style::cut(name, 30), style::one_line(about, 200));
    words.trim_end().to_owned()
}

/// `  ✗ shell cargo test · 2.10 s · error: could not compile`, never wider than the terminal.
pub(super) fn line(mark: char, words: &str, took: &str, failure: &str) -> String {
    let width = tty::text_columns().saturating_sub(1);
    let failure = style::one_line(failure, 40);
    let notes = [took, &failure].into_iter().filter(|note| !note.is_empty());
    let notes = notes.fold(String::new(), |notes, note| notes + " · " + note);
    let room = width.saturating_sub(4 + notes.width());
    format!("  {mark} {}{notes}", style::one_line(words, room))
}
