//! What a person is shown of a conversation that goes on: its last turns.

use std::collections::HashMap;

use rejoin::{CallNote, CallStatus, ConversationView, Kind, Part, Turn};

use super::tool_calls;
use crate::commands::show::margin;
use crate::markdown::Markdown;
use crate::screen::{Painted, Style, in_rows, said_by};
use crate::{style, tty};

/// So many turns; `/show` has all of them.
const TURNS: usize = 20;
/// So much of each text; the journal has all of it.
const MOST: usize = 4096;

/// The last turns of the path, as they looked when they were new.
pub(super) fn last_turns(view: &ConversationView<'_>) -> anyhow::Result<Painted> {
    let path = view.path();
    let first = path.len().saturating_sub(TURNS);
    let mut out = Painted::default();
    if first > 0 {
        let before = format!("({} before: /show has all)", style::plural(first, "turn"));
        out.style(Style::DIM.when(style::colour()), &before);
        out.text("\n\n");
    }
    for (at, turn) in path.iter().enumerate().skip(first) {
        one(view, turn, at + 1, &mut out)?;
    }
    Ok(out)
}

fn one(view: &ConversationView<'_>, turn: &Turn, number: usize, out: &mut Painted) -> anyhow::Result<()> {
    let agent = turn.agent.as_ref().map_or("?", |agent| agent.as_str());
    let colour = style::colour();
    let mut markdown = Markdown::new(colour);
    let width = tty::text_columns();
    let mut spoken = false;
    let messages = view.messages(turn, MOST)?;
    let calls: HashMap<String, CallNote> =
        view.tool_calls(turn, &messages).into_iter().map(|call| (call.call.id.clone(), call.call)).collect();
    for message in messages {
        if message.kind == Kind::User {
            out.append(&said_by(agent, &message.text()));
            let margin = format!("turn {number} · {}", margin(view, turn));
            out.style(Style::DIM.when(colour), &in_rows(&margin));
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
                    if let Some(call) = calls.get(&call.id) {
                        out.style(Style::DIM.when(colour), &call_line(call));
                        out.text("\n");
                    }
                }
                _ => {}
            }
        }
    }
    out.text("\n");
    Ok(())
}

/// `  ✓ shell cargo test`: a call with what became of it.
fn call_line(call: &CallNote) -> String {
    let (mark, note) = match call.status {
        Some(CallStatus::Success) => ('✓', ""),
        Some(CallStatus::Error) => ('✗', "failed"),
        Some(CallStatus::Cancelled) => ('⊘', "cancelled"),
        None => ('⚙', ""),
    };
    tool_calls::line(mark, &tool_calls::words(&call.name, &call.description), note, "")
}
