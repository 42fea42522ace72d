//! What a person is shown of a conversation that goes on: its last turns.

use std::fmt::Write as _;

use rejoin::{ConversationView, Kind, Part, Turn};

use crate::commands::show::margin;
use crate::markdown::Markdown;
use crate::output::call_words;
use crate::{style, tty};

/// So many turns.
const TURNS: usize = 2;
/// So much of each text; the journal has all of it.
const MOST: usize = 4096;

/// The last turns of the path, as they looked when they were new.
pub(super) fn last_turns(view: &ConversationView<'_>) -> anyhow::Result<String> {
    let path = view.path();
    let first = path.len().saturating_sub(TURNS);
    let mut out = String::new();
    for (at, turn) in path.iter().enumerate().skip(first) {
        one(view, turn, at + 1, &mut out)?;
    }
    Ok(out)
}

fn one(view: &ConversationView<'_>, turn: &Turn, number: usize, out: &mut String) -> anyhow::Result<()> {
    let agent = turn.agent.as_ref().map_or("?", |agent| agent.as_str());
    let mut markdown = Markdown::new(style::colour());
    let width = tty::text_columns();
    let mut spoken = false;
    for message in view.messages(turn, MOST)? {
        if message.kind == Kind::User {
            let said = rejoin::printable(&message.text());
            let _ = writeln!(out, "{} {}", style::accent(&format!("{agent} ›")), said.trim_end());
            let _ = writeln!(out, "{}", style::faint(&format!("turn {number} · {}", margin(view, turn))));
            continue;
        }
        for part in &message.parts {
            match part {
                Part::Text { text, thought: false } => {
                    out.push_str(if spoken { "\n" } else { "" });
                    spoken = true;
                    out.push_str(&markdown.feed(text, width));
                    out.push_str(&markdown.end());
                }
                Part::Call { function_call: call } => {
                    let words = format!("{} {}", call.name, call_words(&call.args));
                    let line = style::one_line(&words, width.saturating_sub(5));
                    let _ = writeln!(out, "{}", style::faint(&format!("  ⚙ {line}")));
                }
                _ => {}
            }
        }
    }
    out.push('\n');
    Ok(())
}
