use std::fmt::Write as _;

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};
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
        let agent = pen.clean(turn.agent.as_ref().map_or("?", |agent| agent.as_str()));
        heading(turn, &agent, at + 1, &mut out);
        for message in pen.messages(view, turn)? {
            paragraph(&message, &mut out);
        }
        pen.put(&out)?;
    }
    Ok(())
}

fn heading(turn: &Turn, agent: &str, number: usize, out: &mut String) {
    let _ = writeln!(out, "## {number} · {}\n", visible_line(agent));
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
                let text = text.trim_end();
                let _ = writeln!(out, "{text}{}\n", missing_fence(text));
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

/// What ends a block of code that the text leaves open: it would take all that follows in. One in a list or in a
/// quotation ends with that.
fn missing_fence(text: &str) -> String {
    let mut depth = 0_usize;
    for (event, range) in Parser::new(text).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_)))
                if depth == 0 && range.end == text.len() =>
            {
                let block = text[range].trim_start();
                let sign = block.chars().next().unwrap_or('`');
                let length = block.chars().take_while(|c| *c == sign).count();
                let last = block.lines().skip(1).last().map_or("", str::trim);
                let ended = last.len() >= length && last.chars().all(|c| c == sign);
                return if ended { String::new() } else { format!("\n{}", sign.to_string().repeat(length)) };
            }
            Event::Start(Tag::BlockQuote(_) | Tag::List(_)) => depth += 1,
            Event::End(TagEnd::BlockQuote(_) | TagEnd::List(_)) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    String::new()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_of_code_that_was_left_open_is_ended() {
        for (text, missing) in [
            ("plain", ""),
            ("```rust\nfn f() {}\n```", ""),
            ("~~~~\n```\n~~~~", ""),
            ("```rust\nfn f() {", "\n```"),
            ("a\n\n````md\n```\nx\n```", "\n````"),
            ("~~~", "\n~~~"),
            ("```\nx\n``` y", "\n```"),
            ("- a\n  ```\n  x", ""),
            ("> ```\n> x", ""),
            ("    ```\n    x", ""),
            ("```\none\n```\n\n```\ntwo", "\n```"),
        ] {
            assert_eq!(missing_fence(text), missing, "{text:?}");
        }
    }

    #[test]
    fn a_fence_is_longer_than_all_in_it() {
        let mut out = String::new();
        folded("called shell", "", "```\ncode\n````\n", &mut out);
        assert!(out.contains("\n`````\n```\ncode\n````\n`````\n"), "{out}");
    }
}
