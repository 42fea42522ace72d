//! How a turn looks that was made elsewhere: as one's own, but in whole paragraphs.

use std::collections::HashMap;

use rejoin::{Change, Event, MessageId, Question, Told, TurnId, call_words};

use super::tool_calls;
use crate::markdown::Markdown;
use crate::screen::{Painted, Style, in_rows, label, said_by, set_off};
use crate::turn_words::{self, Headline, Stage, closing_line};
use crate::{style, tty};

/// The turns that have not ended.
#[derive(Default)]
pub(super) struct TurnsElsewhere(HashMap<TurnId, TurnElsewhere>);

#[derive(Default)]
struct TurnElsewhere {
    prompt: String,
    /// What is said once its agent has confirmed its session, or says something else.
    headline: Option<Headline>,
    /// What is being said, and in which message.
    text: Option<(MessageId, String)>,
    /// Calls that have not come back: the id, and what they are about.
    calls: Vec<(String, String)>,
    /// Questions that were not answered yet.
    questions: Vec<Question>,
}

impl TurnsElsewhere {
    /// Takes in what is told of a turn; what can be shown of it now is added.
    pub(super) fn take(&mut self, turn: Option<TurnId>, told: &Told, out: &mut Painted) {
        match (told, turn) {
            (Told::Prompt(prompt), _) => {
                self.0.entry(prompt.turn).or_default().prompt.clone_from(&prompt.text);
            }
            (Told::Event(event), Some(turn)) => {
                self.0.entry(turn).or_default().event(event, out);
                if matches!(event, Event::Result { .. }) {
                    self.0.remove(&turn);
                }
            }
            (Told::Changed(change), None) => {
                if let Some(words) = in_words(change) {
                    dim(out, &format!("elsewhere: {words}"));
                }
            }
            (Told::Event(_), None) | (Told::Changed(_), Some(_)) => {}
        }
    }
}

impl TurnElsewhere {
    fn event(&mut self, event: &Event, out: &mut Painted) {
        let stage = if matches!(event, Event::Session { .. }) { Stage::Confirmed } else { Stage::Asked };
        if let Some(headline) = self.headline.take() {
            dim(out, &format!("{} · elsewhere", headline.line(stage)));
        }
        match event {
            Event::Init { agent, plan, number, bytes, conversation, attachments, .. } => {
                out.append(&said_by(agent.as_str(), &self.prompt));
                for attachment in attachments {
                    dim(out, &format!("  + {}", style::attachment(attachment)));
                }
                self.headline = Some(Headline {
                    agent: agent.to_string(),
                    plan: plan.clone(),
                    number: *number,
                    bytes: *bytes,
                    conversation: *conversation,
                    others: *number > 1,
                });
            }
            Event::TextDelta { message, offset, text } | Event::Message { message, offset, text, .. } => {
                self.text(*message, *offset, text, out);
            }
            Event::ToolUse { id, name, input, parent: None, .. } => {
                self.paragraph(out);
                self.calls.push((id.clone(), tool_calls::words(name, &call_words(input))));
            }
            Event::ToolResult { id, output, error, parent: None, .. } => {
                if let Some(at) = self.calls.iter().position(|(call, _)| call == id) {
                    let (_, words) = self.calls.remove(at);
                    let (mark, failure) = if *error { ('✗', output.as_str()) } else { ('✓', "") };
                    dim(out, &tool_calls::line(mark, &words, "", failure));
                }
            }
            Event::Question(question) => {
                self.paragraph(out);
                line(out, Style::WARNING, &self::question(question));
                self.questions.push(question.clone());
            }
            Event::QuestionAnswered(answer) => {
                if let Some(at) = self.questions.iter().position(|asked| asked.id == answer.question) {
                    let words = turn_words::answer(&self.questions.remove(at), &answer.clone().into());
                    dim(out, &format!("  {words}"));
                }
            }
            Event::Warning { code, text } if code != "retry" => {
                self.paragraph(out);
                line(out, Style::WARNING, &format!("! {text}"));
            }
            Event::Result { receipt, .. } => {
                self.paragraph(out);
                for (_, words) in self.calls.drain(..) {
                    dim(out, &tool_calls::line('⊘', &words, "cancelled", ""));
                }
                dim(out, &closing_line(receipt));
                out.text("\n");
            }
            _ => {}
        }
    }

    fn text(&mut self, message: MessageId, offset: usize, piece: &str, out: &mut Painted) {
        if self.text.as_ref().is_some_and(|(id, _)| *id != message) {
            self.paragraph(out);
        }
        let (_, text) = self.text.get_or_insert_with(|| (message, String::new()));
        // A block that differs from its pieces stands in their place.
        text.truncate(text.floor_char_boundary(offset));
        text.push_str(piece);
    }

    /// What was said so far is shown, as nothing more comes before something else.
    fn paragraph(&mut self, out: &mut Painted) {
        let Some((_, text)) = self.text.take() else { return };
        if text.trim().is_empty() {
            return;
        }
        let mut markdown = Markdown::new(style::stdout_colour());
        out.append(&markdown.feed(&text, tty::text_columns()));
        out.append(&markdown.end());
    }
}

/// What an agent asks there, and how to answer it from here.
pub(super) fn question(question: &Question) -> String {
    format!("? {} (asked elsewhere; Enter answers it)", question.text)
}

/// A change that matters to whoever goes on.
fn in_words(change: &Change) -> Option<String> {
    Some(match change {
        Change::Title { name } => format!("it is called {:?} now", label(name)),
        Change::Head { to: Some(message), .. } => format!("the next turn goes on after {}", message.short()),
        Change::Head { to: None, .. } => "the next turn goes on before the first one".to_owned(),
        Change::Amendment { target, .. } => format!("message {} has a new wording", target.short()),
        _ => return None,
    })
}

fn dim(out: &mut Painted, text: &str) {
    line(out, Style::DIM, text);
}

fn line(out: &mut Painted, style: Style, text: &str) {
    out.style(style.when(style::colour()), &in_rows(&set_off(text)));
    out.text("\n");
}
