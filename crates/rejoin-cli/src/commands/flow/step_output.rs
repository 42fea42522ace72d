//! What a step said, for a person at a terminal.

use rejoin_flow::Ended;

use crate::markdown::Markdown;
use crate::screen::{Painted, label_lines};
use crate::wrap::wrapped;
use crate::{style, tty};

/// Some of a step's output: an agent's answer as `run` renders it, data and what a command printed in lines that are
/// broken at words, all of it set off by so many columns.
pub(super) fn rendered(ended: &Ended, output: &str, indent: usize) -> Painted {
    let is_answer = ended.receipt.is_some() && ended.json.is_none();
    let mut out = Painted::default();
    if is_answer {
        let mut markdown = Markdown::new(style::stdout_colour());
        out.append(&markdown.feed(output.trim_end(), tty::text_columns().saturating_sub(indent)));
        out.append(&markdown.end());
    } else {
        for line in wrapped(&label_lines(output), tty::columns().saturating_sub(indent)) {
            out.text(&format!("{line}\n"));
        }
    }
    out.indented(indent)
}
