//! What a person is shown of a conversation that goes on: its last turns.

use rejoin::{ConversationView, Kind, Part, Turn, call_words};

use crate::commands::show::margin;
use crate::markdown::Markdown;
use crate::screen::{Painted, Style, label};
use crate::{style, tty};

/// So many turns.
const TURNS: usize = 2;
/// So much of each text; the journal has all of it.
const MOST: usize = 4096;

/// The last turns of the path, as they looked when they were new.
pub(super) fn last_turns(view: &ConversationView<'_>) -> anyhow::Result<Painted> {
    let path = view.path();
    let first = path.len().saturating_sub(TURNS);
    let mut out = Painted::default();
    for (at, turn) in path.iter().enumerate().skip(first) {
        one(view, turn, at + 1, &mut out)?;
    }
    Ok(out)
}

fn one(view: &ConversationView<'_>, turn: &Turn, number: usize, out: &mut Painted) -> anyhow::Result<()> {
    let agent = label(turn.agent.as_ref().map_or("?", |agent| agent.as_str()));
    let colour = style::colour();
    let mut markdown = Markdown::new(colour);
    let width = tty::text_columns();
    let mut spoken = false;
    for message in view.messages(turn, MOST)? {
        if message.kind == Kind::User {
            out.style(Style::ACCENT.when(colour), &format!("{agent} ›"));
            out.text(&format!(" {}\n", message.text().trim_end()));
            let margin = format!("turn {number} · {}", margin(view, turn));
            out.style(Style::DIM.when(colour), &margin);
            out.text("\n");
            continue;
        }
        for part in &message.parts {
            match part {
                Part::Text { text, thought: false } => {
                    out.text(if spoken { "\n" } else { "" });
                    spoken = true;
                    out.append(&markdown.feed(text, width));
                    out.append(&markdown.end());
                }
                Part::Call { function_call: call } => {
                    let words = format!("{} {}", label(&call.name), call_words(&call.args));
                    let line = style::one_line(&words, width.saturating_sub(5));
                    out.style(Style::DIM.when(colour), &format!("  ⚙ {line}"));
                    out.text("\n");
                }
                _ => {}
            }
        }
    }
    out.text("\n");
    Ok(())
}
