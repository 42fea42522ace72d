//! A turn as `rejoin show` shows it: who said what, what was done, and how it looks.

use std::collections::HashMap;

use rejoin::{
    AskedQuestion, CallNote, CallStatus, ConversationView, Kind, Message, MessageId, Outcome, Part,
    QuestionState, ToolCall, Turn, TurnStatus, resets_words,
};

use crate::markdown::Markdown;
use crate::screen::{Painted, Style, label, label_lines};
use crate::style;
use crate::thoughts::{self, Thinking};
use crate::turn_words::decision_of;
use crate::wrap::wrapped;

/// Longer texts are cut in `show`; the journal has them whole.
pub(super) const MOST: usize = 64 << 10;

/// How turns are shown.
#[derive(Clone, Copy)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(super) struct TurnView {
    /// Answers are rendered, and lines broken at words, in this width.
    pub(super) rendered: Option<usize>,
    pub(super) colour: bool,
    pub(super) thinking: Thinking,
    pub(super) ids: bool,
    pub(super) times: bool,
    pub(super) originals: bool,
}

/// So much of a failure is told beside the turn.
const FAILURE: usize = 60;

/// What tools gave back is cut to this where the terminal does not say how wide it is.
const USUAL: usize = 100;

impl TurnView {
    /// One turn with all that was said in it.
    pub(super) fn turn(
        self,
        view: &ConversationView<'_>,
        turn: &Turn,
        number: usize,
        out: &mut Painted,
    ) -> anyhow::Result<()> {
        let messages = view.messages(turn, MOST)?;
        self.headline(view, turn, number, &messages, out);
        let calls: HashMap<String, ToolCall> =
            view.tool_calls(turn, &messages).into_iter().map(|call| (call.call.id.clone(), call)).collect();
        let originals = self.originals(view, turn)?;
        // Two texts in a row are two messages: between them is a blank line.
        let mut spoken = false;
        for message in &messages {
            let before = originals.get(&message.id);
            if message.kind == Kind::User {
                self.time(message, out);
                self.prompt(&message.text(), out);
                for attachment in message.attachments() {
                    self.line(Style::DIM, &format!("> + {}", style::attachment(attachment)), out);
                }
            } else {
                if self.ids {
                    self.line(Style::DIM, &format!("[{}]", message.id.short()), out);
                }
                self.time(message, out);
                self.parts(message, &calls, &mut spoken, out);
            }
            if let Some(before) = before {
                self.line(Style::DIM, "  before it was edited:", out);
                for line in wrapped(&label_lines(before), self.width().saturating_sub(4)) {
                    self.line(Style::DIM, &format!("  ┊ {line}"), out);
                }
            }
        }
        for line in unanswered(view, turn)? {
            self.line(Style::WARNING, &format!("  {line}"), out);
        }
        self.failure(turn, out);
        Ok(())
    }

    /// What a failed turn says, where its headline had no room for all of it.
    fn failure(self, turn: &Turn, out: &mut Painted) {
        let Some(Outcome::Failed { message, .. }) = turn.receipt.as_ref().map(|receipt| &receipt.outcome)
        else {
            return;
        };
        if style::one_line(message, FAILURE) == message.trim() {
            return;
        }
        for line in wrapped(&label_lines(message.trim()), self.width().saturating_sub(4)) {
            self.line(Style::RED, &format!("  ✗ {line}"), out);
        }
    }

    /// `── turn 2 · claude · 2728ba19 · edited · resumed 4f1c2a9e · 12.4 s`
    fn headline(
        self,
        view: &ConversationView<'_>,
        turn: &Turn,
        number: usize,
        messages: &[Message],
        out: &mut Painted,
    ) {
        let agent = label(turn.agent.as_ref().map_or("?", |agent| agent.as_str()));
        let edited = if turn.revision > 0 { " · ✎ edited" } else { "" };
        let at = messages.first().filter(|_| self.times).and_then(|first| date(&first.timestamp));
        let at = at.map(|at| format!(" · {at}")).unwrap_or_default();
        let line =
            format!("── turn {number} · {agent} · {}{at}{edited} · {}", turn.id.short(), margin(view, turn));
        out.text("\n");
        let lines = if self.rendered.is_some() { wrapped(&line, self.width()) } else { vec![line] };
        for line in lines {
            self.line(Style::DIM, &line, out);
        }
    }

    /// The first wordings of messages that were edited, if they are wanted.
    fn originals(
        self,
        view: &ConversationView<'_>,
        turn: &Turn,
    ) -> anyhow::Result<HashMap<MessageId, String>> {
        if !self.originals || turn.revision == 0 {
            return Ok(HashMap::new());
        }
        let text = |parts: &[Part]| -> String {
            let texts = parts.iter().filter_map(|part| match part {
                Part::Text { text, thought: false } => Some(text.as_str()),
                _ => None,
            });
            texts.collect()
        };
        let shown = view.shown_turn(turn, MOST)?.messages.into_iter();
        Ok(shown.filter_map(|message| Some((message.id, text(&message.original?)))).collect())
    }

    fn prompt(self, text: &str, out: &mut Painted) {
        let text = label_lines(text);
        let lines = match self.rendered {
            Some(width) => wrapped(&text, width.saturating_sub(2)),
            None => text.lines().map(str::to_owned).collect(),
        };
        for line in lines {
            out.style(Style::CODE.when(self.colour), "> ");
            out.style(Style::BOLD.when(self.colour), &line);
            out.text("\n");
        }
    }

    fn parts(
        self,
        message: &Message,
        calls: &HashMap<String, ToolCall>,
        spoken: &mut bool,
        out: &mut Painted,
    ) {
        for part in &message.parts {
            let is_answer = matches!(part, Part::Text { thought: false, .. });
            if std::mem::replace(spoken, is_answer) && is_answer && self.rendered.is_some() {
                out.text("\n");
            }
            match part {
                Part::Text { text, thought: false } => self.answer(text.trim_end(), out),
                Part::Text { text, thought: true } => self.thought(text, out),
                Part::Call { function_call } => {
                    if let Some(ToolCall { call, inside }) = calls.get(&function_call.id) {
                        self.call("  ", call, out);
                        for call in inside {
                            self.call("    ", call, out);
                        }
                    }
                }
                Part::Response { function_response } => {
                    let output = &function_response.response;
                    let (mark, style) = if output.error { ("✗", Style::RED) } else { ("↳", Style::DIM) };
                    let room = self.width().saturating_sub(10).clamp(20, 90);
                    let line = format!("  {mark} {}", style::one_line(&output.output, room));
                    self.line(style, &line, out);
                }
                Part::Attachment { .. } | Part::Other(_) => {}
            }
        }
    }

    fn answer(self, text: &str, out: &mut Painted) {
        let Some(width) = self.rendered else {
            out.text(text);
            return out.text("\n");
        };
        let mut markdown = Markdown::new(self.colour);
        out.append(&markdown.feed(text, width));
        out.append(&markdown.end());
    }

    fn thought(self, text: &str, out: &mut Painted) {
        match self.thinking {
            Thinking::Off => {}
            _ if text.trim().is_empty() => {}
            Thinking::Brief => {
                out.append(&thoughts::folded(text, text.len(), self.width(), self.colour));
            }
            Thinking::Full => out.append(&thoughts::full(text, self.width(), self.colour)),
        }
    }

    /// `  ⚙ shell cargo test ✓ · 12.4 s`: what a call was, what became of it, how long it took.
    fn call(self, indent: &str, call: &CallNote, out: &mut Painted) {
        let (mark, style) = match call.status {
            Some(CallStatus::Success) => (" ✓", Style::GREEN),
            Some(CallStatus::Error) => (" ✗", Style::RED),
            Some(CallStatus::Cancelled) => (" ⊘ cancelled", Style::WARNING),
            None => (" …", Style::WARNING),
        };
        let took = call.milliseconds.filter(|took| *took >= NOTABLE);
        let took = took.map(|took| format!(" · {}", style::elapsed(took))).unwrap_or_default();
        let at = Some(&call.timestamp).filter(|_| self.times).and_then(|at| clock(at));
        let at = at.map(|at| format!(" · {at}")).unwrap_or_default();
        let room = self.width().saturating_sub(indent.len() + 36).clamp(16, 90);
        let words = format!("{} {}", style::cut(&call.name, 30), style::one_line(&call.description, room));
        out.style(Style::DIM.when(self.colour), &format!("{indent}⚙ {}", words.trim_end()));
        out.style(style.when(self.colour), mark);
        out.style(Style::DIM.when(self.colour), &format!("{took}{at}"));
        out.text("\n");
    }

    /// When a message was written.
    fn time(self, message: &Message, out: &mut Painted) {
        if let Some(at) = clock(&message.timestamp).filter(|_| self.times) {
            self.line(Style::DIM, &format!("[{at}]"), out);
        }
    }

    fn line(self, style: Style, line: &str, out: &mut Painted) {
        out.style(style.when(self.colour), line);
        out.text("\n");
    }

    fn width(self) -> usize {
        self.rendered.unwrap_or(USUAL)
    }
}

/// Calls that took less need no time beside them, in milliseconds.
const NOTABLE: u64 = 5000;

/// `2026-11-18 13:20:05`, as the clock on the wall says it.
fn date(timestamp: &str) -> Option<String> {
    local(timestamp, "%Y-%m-%d %H:%M:%S")
}

/// `13:20:05`
fn clock(timestamp: &str) -> Option<String> {
    local(timestamp, "%H:%M:%S")
}

fn local(timestamp: &str, format: &str) -> Option<String> {
    let at: jiff::Timestamp = timestamp.parse().ok()?;
    Some(at.to_zoned(jiff::tz::TimeZone::system()).strftime(format).to_string())
}

/// `? asked, lost before anybody answered: Tea or coffee? (tea / coffee)`: what nobody answered, one line each.
pub(super) fn unanswered(view: &ConversationView<'_>, turn: &Turn) -> anyhow::Result<Vec<String>> {
    let line = |asked: AskedQuestion| {
        let state = match asked.state {
            QuestionState::Open => "asked, waits for an answer",
            QuestionState::Lost => "asked, lost before anybody answered",
            QuestionState::Answered(_) | QuestionState::Withdrawn => return None,
        };
        let options: Vec<String> =
            asked.question.options.iter().map(|option| style::cut(&option.label, 30)).collect();
        let options = if options.is_empty() { String::new() } else { format!(" ({})", options.join(" / ")) };
        Some(format!("? {state}: {}{options}", style::one_line(&asked.question.text, 90)))
    };
    Ok(view.questions(turn)?.into_iter().filter_map(line).collect())
}

/// The decision and the outcome of a turn, in a few words.
pub(crate) fn margin(view: &ConversationView<'_>, turn: &Turn) -> String {
    let Some(receipt) = &turn.receipt else {
        let running = view.turn_status(turn).is_ok_and(TurnStatus::is_running);
        let state = if running { "running now" } else { "interrupted" };
        // Its receipt would have told the tokens; what was counted so far is in its messages.
        let (number, tokens) = (style::number, turn.tokens);
        let tokens = tokens.map(|it| format!(" · {} in · {} out", number(it.input), number(it.output)));
        return format!("{state}{}", tokens.unwrap_or_default());
    };
    let outcome = match &receipt.outcome {
        Outcome::Completed => style::elapsed(receipt.milliseconds),
        Outcome::Failed { message, .. } => format!("failed: {}", style::one_line(message, FAILURE)),
        Outcome::Timeout { message } => format!("timeout: {}", label(message)),
        Outcome::Cancelled => "cancelled".into(),
    };
    let resets = receipt.resets.as_ref().and_then(|resets| resets_words(resets, &jiff::Zoned::now()));
    let resets = resets.map(|words| format!(" · {words}")).unwrap_or_default();
    let instead = receipt.stands_in.as_ref();
    let instead =
        instead.map(|it| format!(" · instead of {}", label(it.instead_of.as_str()))).unwrap_or_default();
    format!("{}{instead} · {outcome}{resets}", decision_of(receipt))
}
