use std::fmt::Write as _;

use rejoin_core::{Kind, Message, Part, Turn, visible, visible_line};

use super::Pen;
use crate::{ConversationView, Error};

const STYLE: &str = "\
:root{color-scheme:light dark;--line:#8884;--soft:#8882}\
body{font:16px/1.55 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem}\
h1{font-size:1.4rem}h2{font-size:1rem;margin:2.5rem 0 .5rem;border-top:1px solid var(--line);padding-top:1rem}\
.note{color:#888;font-weight:normal;font-size:.85rem}\
.said{white-space:pre-wrap;overflow-wrap:anywhere}\
.user{border-left:3px solid #5b8def;padding:.2rem 0 .2rem 1rem;margin:.8rem 0}\
details{margin:.5rem 0}summary{cursor:pointer;color:#888;font-size:.9rem}\
pre{background:var(--soft);padding:.7rem;border-radius:.4rem;overflow:auto;max-height:30rem;font-size:.85rem}";

/// The path as one page. Every word of it is escaped: what an agent said is shown, never run.
pub(super) fn write(view: &ConversationView<'_>, pen: &mut Pen<'_>) -> Result<(), Error> {
    let title = escaped(&pen.title(view)?);
    let place = view.info().map(|info| label(&pen.clean(&info.dir))).unwrap_or_default();
    let head = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n<h1>{title}</h1>\n\
         <p class=\"note\">conversation {} in {place}, kept by rejoin</p>\n",
        view.id()
    );
    pen.put(&head)?;
    for (at, turn) in view.path().into_iter().enumerate() {
        let section = section(turn, at + 1, &pen.messages(view, turn)?);
        pen.put(&section)?;
    }
    pen.put("</html>\n")
}

fn section(turn: &Turn, number: usize, messages: &[Message]) -> String {
    let agent = label(turn.agent.as_ref().map_or("?", |agent| agent.as_str()));
    let mut out = format!(
        "<h2 id=\"{}\">{number} · {agent} <span class=\"note\">{} · {}</span></h2>\n",
        turn.id,
        label(&turn.started),
        label(&ConversationView::margin(turn))
    );
    for message in messages {
        for part in &message.parts {
            let _ = match part {
                Part::Text { text, thought: false } => {
                    let class = if message.kind == Kind::User { "said user" } else { "said" };
                    writeln!(out, "<div class=\"{class}\">{}</div>", escaped(text.trim_end()))
                }
                Part::Text { text, .. } => folded(&mut out, "thinking", text),
                Part::Call { function_call } => {
                    let args = serde_json::to_string_pretty(&function_call.args).unwrap_or_default();
                    folded(&mut out, &format!("called {}", function_call.name), &args)
                }
                Part::Response { function_response } => {
                    let output = &function_response.response;
                    folded(&mut out, if output.error { "failed" } else { "result" }, &output.output)
                }
                Part::Attachment { attachment } => {
                    writeln!(out, "<div class=\"note\">attached: {}</div>", label(&attachment.to_string()))
                }
                Part::Other(other) => folded(&mut out, "something else", &other.to_string()),
            };
        }
    }
    out
}

fn folded(out: &mut String, summary: &str, body: &str) -> std::fmt::Result {
    writeln!(
        out,
        "<details><summary>{}</summary><pre>{}</pre></details>",
        label(summary),
        escaped(body.trim_end())
    )
}

/// A name, which cannot begin a line.
fn label(text: &str) -> String {
    escaped(&visible_line(text))
}

/// A browser obeys marks that reorder text, and shows no control characters: all of it is to be seen.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}
