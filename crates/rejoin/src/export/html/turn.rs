//! A turn: what was asked, thought, done and answered.

use std::collections::HashMap;
use std::fmt::Write as _;

use rejoin_core::{Kind, Message, Part, Turn};

use super::escape::{escaped, label, without_colours};
use super::rendered::{Author, render};
use super::{Branches, code, margin, tool_call};
use crate::export::Pen;
use crate::{ConversationView, Error};

/// The part of the page that is one turn.
pub(super) fn section(
    view: &ConversationView<'_>,
    tree: &Branches<'_>,
    at: usize,
    turn: &Turn,
    pen: &mut Pen<'_>,
) -> Result<String, Error> {
    let messages = pen.messages(view, turn)?;
    let mut out = format!(
        "<section class=\"turn\" id=\"{}\" data-up=\"{}\"{}>\n{}<div class=\"said\">\n",
        turn.id,
        tree.parents[at].map_or(-1, usize::cast_signed),
        if tree.shown[at] { "" } else { " hidden" },
        margin::notes(turn, tree.numbers[at], pen),
    );
    fork(tree, at, &mut out);
    let calls = view.tool_calls(turn, &messages);
    let calls: HashMap<&str, _> = calls.iter().map(|call| (call.call.id.as_str(), call)).collect();
    let outputs = outputs(&messages);
    for message in &messages {
        for part in &message.parts {
            match part {
                Part::Text { text, thought: true } => folded("thought", "Thinking", text, &mut out),
                Part::Text { text, .. } => words(message.kind, text, &mut out),
                Part::Call { function_call: call } => {
                    let output = outputs.get(call.id.as_str()).copied();
                    tool_call::write(
                        (&call.name, &call.args),
                        calls.get(call.id.as_str()).copied(),
                        output,
                        &mut out,
                    );
                }
                // What belongs to a call stands in it.
                Part::Response { function_response: response }
                    if calls.contains_key(response.id.as_str()) => {}
                Part::Response { function_response: response } => {
                    let output = &response.response;
                    let title = if output.error { "A tool failed" } else { "A tool's result" };
                    folded("tool", title, &without_colours(&output.output), &mut out);
                }
                Part::Attachment { attachment } => {
                    let _ = writeln!(out, "<p class=\"attached\">{}</p>", label(&attachment.to_string()));
                }
                Part::Other(other) => {
                    out.push_str("<details class=\"tool\"><summary>Something else</summary>\n");
                    code::block("json", &format!("{other:#}"), &mut out);
                    out.push_str("</details>\n");
                }
            }
        }
    }
    out.push_str("</div>\n</section>\n");
    Ok(out)
}

/// Where the conversation went several ways: which one this is, and the way to the others.
fn fork(tree: &Branches<'_>, at: usize, out: &mut String) {
    let siblings = tree.siblings(at);
    let Some(place) = siblings.iter().position(|sibling| *sibling == at).filter(|_| siblings.len() > 1)
    else {
        return;
    };
    let button = |to: Option<&usize>, sign: &str, name: &str| match to {
        Some(to) => {
            format!("<button type=\"button\" data-go=\"{to}\" aria-label=\"{name} branch\">{sign}</button>")
        }
        None => format!("<button type=\"button\" disabled aria-label=\"{name} branch\">{sign}</button>"),
    };
    let before = button(place.checked_sub(1).and_then(|place| siblings.get(place)), "‹", "previous");
    let behind = button(siblings.get(place + 1), "›", "next");
    let _ = writeln!(
        out,
        "<nav class=\"fork\">{before}<span>branch {} of {}</span>{behind}</nav>",
        place + 1,
        siblings.len()
    );
}

fn outputs(messages: &[Message]) -> HashMap<&str, &str> {
    let parts = messages.iter().flat_map(|message| &message.parts);
    let outputs = parts.filter_map(|part| match part {
        Part::Response { function_response: response } => {
            Some((response.id.as_str(), response.response.output.as_str()))
        }
        _ => None,
    });
    outputs.collect()
}

fn words(speaker: Kind, text: &str, out: &mut String) {
    if text.trim().is_empty() {
        return;
    }
    let (class, author) =
        if speaker == Kind::User { ("prompt", Author::User) } else { ("answer", Author::Agent) };
    let _ = writeln!(out, "<div class=\"{class}\">\n{}</div>", render(text, author));
}

fn folded(class: &str, title: &str, text: &str, out: &mut String) {
    let text = escaped(text.trim_end());
    let _ =
        writeln!(out, "<details class=\"{class}\"><summary>{title}</summary>\n<pre>{text}</pre></details>");
}
