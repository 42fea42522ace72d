use std::fmt::Write as _;

use rejoin_core::{Kind, Message, Part, Turn, visible_line};

use super::Pen;
use crate::{ConversationView, Error};

/// The path as a document.
pub(super) fn write(view: &ConversationView<'_>, pen: &mut Pen<'_>) -> Result<(), Error> {
    let title = pen.title(view)?;
    let mut head = format!("# {}\n\n", if title.is_empty() { "A conversation" } else { &title });
    if let Some(info) = view.info() {
        let dir = pen.clean(&info.dir);
        let dir = visible_line(&dir);
        let _ = writeln!(head, "Conversation `{}` in `{dir}`, kept by rejoin.\n", view.id());
    }
    pen.put(&head)?;
    for (at, turn) in view.path().into_iter().enumerate() {
        let mut out = String::new();
        heading(turn, at + 1, &mut out);
        for message in pen.messages(view, turn)? {
            paragraph(&message, &mut out);
        }
        pen.put(&out)?;
    }
    Ok(())
}

fn heading(turn: &Turn, number: usize, out: &mut String) {
    let agent = visible_line(turn.agent.as_ref().map_or("?", |agent| agent.as_str()));
    let _ = writeln!(out, "## {number} · {agent}\n");
    let _ = writeln!(out, "_{} · {}_\n", visible_line(&turn.started), ConversationView::margin(turn));
}

fn paragraph(message: &Message, out: &mut String) {
    for part in &message.parts {
        match part {
            Part::Text { text, thought: false } if message.kind == Kind::User => {
                for line in text.lines() {
                    out.push_str(if line.is_empty() { ">" } else { "> " });
                    out.push_str(line);
                    out.push('\n');
                }
                out.push('\n');
            }
            Part::Text { text, thought: false } => {
                let _ = writeln!(out, "{}\n", text.trim_end());
            }
            Part::Call { function_call } => {
                let args = serde_json::to_string_pretty(&function_call.args).unwrap_or_default();
                folded(&format!("called {}", function_call.name), "json", &args, out);
            }
            Part::Response { function_response } => {
                let output = &function_response.response;
                let what = if output.error { "failed" } else { "result" };
                folded(what, "", &output.output, out);
            }
            Part::Attachment { attachment } => {
                let _ = writeln!(out, "_attached: {}_\n", visible_line(&attachment.to_string()));
            }
            Part::Text { .. } => {}
            Part::Other(other) => folded("something else", "json", &other.to_string(), out),
        }
    }
}

/// A block that opens on demand, where the reader knows how; a fence that nothing in it can close.
fn folded(summary: &str, language: &str, body: &str, out: &mut String) {
    let longest = body.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let summary = visible_line(summary).replace('&', "&amp;").replace('<', "&lt;");
    let _ = writeln!(
        out,
        "<details><summary>{summary}</summary>\n\n{fence}{language}\n{}\n{fence}\n\n</details>\n",
        body.trim_end()
    );
}
