//! The model's thinking: folded into a line, in full, or not at all.

use clap::ValueEnum;

use crate::screen::{self, Painted, Style};
use crate::wrap::wrapped;
use crate::{style, tty};

/// How much of it is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub(crate) enum Thinking {
    /// All of it
    Full,
    /// How it begins, in one line
    #[default]
    Brief,
    /// Nothing
    Off,
}

/// Of a thought that is folded, no more than this is looked at.
const MOST: usize = 4096;

/// A thought on its way to stderr.
pub(crate) struct Thoughts {
    thinking: Thinking,
    /// What came and is not said yet.
    rest: String,
    bytes: usize,
}

impl Thoughts {
    pub(crate) fn new(thinking: Thinking) -> Self {
        Self { thinking, rest: String::new(), bytes: 0 }
    }

    /// Takes in a piece; gives what is to be said now.
    pub(crate) fn feed(&mut self, piece: &str) -> Option<Painted> {
        self.bytes += piece.len();
        match self.thinking {
            Thinking::Off => None,
            Thinking::Brief => {
                if self.rest.len() < MOST {
                    self.rest.push_str(piece);
                }
                None
            }
            Thinking::Full => {
                self.rest.push_str(piece);
                let whole = self.rest.rfind('\n')? + 1;
                let lines: String = self.rest.drain(..whole).collect();
                Some(full(&lines, margin_width(), style::colour()))
            }
        }
    }

    /// The thought has ended: gives what was held back.
    pub(crate) fn end(&mut self) -> Option<Painted> {
        let text = std::mem::take(&mut self.rest);
        let bytes = std::mem::take(&mut self.bytes);
        if text.trim().is_empty() {
            return None;
        }
        match self.thinking {
            Thinking::Off => None,
            Thinking::Brief => Some(folded(&text, bytes, margin_width(), style::colour())),
            Thinking::Full => Some(full(&text, margin_width(), style::colour())),
        }
    }
}

/// How wide the lines on stderr may be.
fn margin_width() -> usize {
    tty::text_columns().saturating_sub(1)
}

/// A thought of so many bytes in one line: `  ✻ The user wants to … (1.2 KB)`
pub(crate) fn folded(text: &str, bytes: usize, width: usize, colour: bool) -> Painted {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let first = first.trim_matches('*');
    let more =
        if first.len() < text.trim().len() { format!(" ({})", style::bytes(bytes)) } else { String::new() };
    let room = width.saturating_sub(4 + more.len()).max(8);
    let mut out = Painted::default();
    out.style(Style::DIM.when(colour), &format!("  ✻ {}{more}", style::one_line(first, room)));
    out.text("\n");
    out
}

/// All of a thought, set off.
pub(crate) fn full(text: &str, width: usize, colour: bool) -> Painted {
    let mut out = Painted::default();
    for line in wrapped(&screen::label_lines(text), width.saturating_sub(4).max(20)) {
        out.style(Style::DIM.when(colour), format!("  ┊ {line}").trim_end());
        out.text("\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folded_thought_is_one_line() {
        let text = "\n**Plan**\nLook at it, then mend it.";
        assert_eq!(folded(text, text.len(), 60, false).as_str(), "  ✻ Plan (35 bytes)\n");
        assert_eq!(folded("short", 5, 60, false).as_str(), "  ✻ short\n");
    }

    #[test]
    fn a_full_thought_is_wrapped_and_set_off() {
        let text = "one two three four five\nsix\n";
        assert_eq!(full(text, 24, false).as_str(), "  ┊ one two three four\n  ┊ five\n  ┊ six\n");
    }

    #[test]
    fn whole_lines_are_said_as_they_come_and_the_rest_at_the_end() {
        let mut thoughts = Thoughts::new(Thinking::Full);
        let said = |said: Option<Painted>| said.map(|said| said.as_str().to_owned());
        assert_eq!(said(thoughts.feed("one\ntw")).as_deref(), Some("  ┊ one\n"));
        assert_eq!(said(thoughts.feed("o")), None);
        assert_eq!(said(thoughts.feed(" three\nfo")).as_deref(), Some("  ┊ two three\n"));
        assert_eq!(said(thoughts.end()).as_deref(), Some("  ┊ fo\n"));
    }

    #[test]
    fn a_thought_that_is_not_wanted_is_not_said() {
        for (thinking, said) in [(Thinking::Off, false), (Thinking::Brief, true)] {
            let mut thoughts = Thoughts::new(thinking);
            assert_eq!(thoughts.feed("hm\n"), None);
            assert_eq!(thoughts.end().is_some(), said);
            assert_eq!(thoughts.end(), None);
        }
    }
}
