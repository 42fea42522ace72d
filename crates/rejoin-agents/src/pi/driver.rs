//! What Pi's lines mean.

use std::collections::HashSet;

use rejoin_core::{Event, Outcome};

use super::failure::{self, Broken, FAILURES};
use super::prompt::{self, Guard};
use super::wire::{Message, Update, Wire};
use crate::failures::Failures;
use crate::loose::TextOr;
use crate::one_shot::Lines;
use crate::session_id::is_lower_case_uuid;
use crate::turn_state::{Phase, Turn};
use crate::words::{Names, lists};
use crate::{Exit, Refusal, TurnRequest, turn};

/// Lines that are known and say nothing new about the turn.
const QUIET_LINES: Names = "agent_start turn_start turn_end tool_execution_update queue_update \
                            thinking_level_changed session_info_changed entry_appended \
                            bash_execution_update summarization_retry_attempt_start \
                            summarization_retry_finished";

pub(super) struct PiLines {
    /// What keeps a prompt from acting.
    guard: Guard,
    model: String,
    /// Calls that have not given anything back.
    open: HashSet<String>,
    /// The failure of the turn, unless Pi asks again.
    broken: Option<Broken>,
    /// What a failed message had to say: part of the answer only if it is not asked again.
    held: Vec<Event>,
    /// The answer is out, and Pi puts its things in order.
    settling: bool,
    /// Why Pi is shortening its memory right now.
    compacting: Option<String>,
}

impl PiLines {
    pub(super) fn new(guard: Guard) -> Self {
        Self {
            guard,
            model: String::new(),
            open: HashSet::new(),
            broken: None,
            held: Vec::new(),
            settling: false,
            compacting: None,
        }
    }

    /// What a line shows by being there at all.
    fn confirm(&mut self, kind: &str, turn: &mut Turn) {
        // An answer that was told of is written before the next line is.
        if turn.phase == Phase::Answered {
            turn.stored();
        }
        if kind == "agent_start" {
            self.broken = None;
            self.settling = false;
            if turn.phase == Phase::Named {
                turn.phase = Phase::Begun;
            }
        }
    }

    fn note_model(&mut self, model: &str, turn: &mut Turn) {
        if !model.is_empty() && model != self.model && !turn.session.is_empty() {
            model.clone_into(&mut self.model);
            turn.name(&turn.session.clone(), Some(model.to_owned()), None);
        }
    }

    /// The model finished a message, or broke off in it.
    fn answer(&mut self, message: Message<'_>, turn: &mut Turn) {
        turn.reach(Phase::Answered);
        let told = message.usage.0.as_ref().map(|tokens| (tokens.usage(), tokens.cost()));
        let reason = message.stop_reason.as_str();
        let broken = matches!(reason, "error" | "aborted")
            .then(|| Broken { aborted: reason == "aborted", words: message.error.as_str().to_owned() });
        if reason == "length" {
            turn.warn("length", "the answer was cut off at the model's limit of tokens");
        }
        // A message that broke off makes none of its calls, and its text may be asked for again.
        let events = blocks(message, turn);
        if broken.is_some() {
            self.held = events.into_iter().filter(|event| !matches!(event, Event::ToolUse { .. })).collect();
        } else {
            turn.close();
            for event in events {
                if let Event::ToolUse { id, .. } = &event {
                    self.open.insert(id.clone());
                }
                turn.emit(event);
            }
        }
        self.broken = broken;
        if let Some((usage, cost)) = told.filter(|(usage, cost)| !usage.is_zero() || *cost > 0.0) {
            turn.count(usage, cost);
        }
    }

    /// A result is told twice: as the end of the call and as a message.
    fn tool_result(&mut self, id: String, output: String, error: bool, turn: &mut Turn) {
        if self.open.remove(&id) {
            turn.result(id, output, error);
        }
    }

    fn compacted(&mut self, wire: Wire<'_>, turn: &mut Turn) {
        let begun = self.compacting.take().unwrap_or_default();
        let reason = wire.reason.into_filled().unwrap_or(begun);
        if let Some(result) = wire.result.0 {
            let before = result.tokens_before.count();
            let text = if before > 0 { format!("{reason}: {before} tokens before") } else { reason };
            turn.emit(Event::Compaction { text });
        } else if let Some(words) = wire.error_message.into_filled() {
            turn.warn("compaction", words);
        }
    }

    /// The model's last message broke off, and nobody asks again.
    fn broke(&mut self, broken: &Broken, turn: &mut Turn) -> Outcome {
        turn.close();
        for event in std::mem::take(&mut self.held) {
            turn.emit(event);
        }
        if let Some(text) = self.compacting.take() {
            turn.emit(Event::Compaction { text });
        }
        if turn.interrupted { Outcome::Cancelled } else { broken.outcome() }
    }

    /// The message is asked for again.
    fn withdraw(&mut self, turn: &mut Turn) {
        self.held.clear();
        turn.withdraw();
    }
}

/// A piece of a message.
fn grow(update: Update<'_>, turn: &mut Turn) {
    match update.kind.as_str() {
        "text_delta" => turn.stream_text(update.delta.into_string()),
        "thinking_delta" => turn.stream_thinking(update.delta.into_string()),
        _ => {}
    }
}

/// What a finished message says, its calls last.
fn blocks(message: Message<'_>, turn: &mut Turn) -> Vec<Event> {
    let current = turn.current();
    let (id, thought) = (current.id, current.thought);
    let (model, native) = (message.model.into_filled(), message.response_id.into_filled());
    let (mut events, mut calls, mut offset) = (Vec::new(), Vec::new(), 0);
    let mut said = |text: String, events: &mut Vec<Event>| {
        if !text.is_empty() {
            let (at, model, native) = (offset, model.clone(), native.clone());
            offset += text.len();
            events.push(Event::Message { message: id, offset: at, text, model, native });
        }
    };
    let blocks = match message.content {
        TextOr::Blocks(blocks) => blocks,
        TextOr::Text(text) => {
            said(text.into_owned(), &mut events);
            Vec::new()
        }
        TextOr::Neither => Vec::new(),
    };
    for block in blocks {
        match block.kind.as_str() {
            "text" => said(block.text.into_string(), &mut events),
            "thinking" if !thought && block.thinking.filled().is_some() => {
                events.push(Event::Thinking { message: id, text: block.thinking.into_string() });
            }
            "toolCall" => calls.push(Event::ToolUse {
                message: id,
                id: block.id.into_string(),
                name: block.name.into_string(),
                input: block.arguments,
                parent: None,
            }),
            _ => {}
        }
    }
    events.append(&mut calls);
    events
}

impl Lines for PiLines {
    type Wire<'a> = Wire<'a>;
    const TITLE: &'static str = "Pi";
    const FAILURES: Failures = FAILURES;

    fn begin(&mut self, request: &TurnRequest<'_>, turn: &mut Turn) -> Result<(), Refusal> {
        let written = prompt::written(request.composed.prompt(), self.guard);
        turn.steps.extend(written.warning.map(turn::warning));
        let mut text = written.text;
        if !request.attachments.is_empty() {
            // Pi puts texts right behind the prompt.
            text.to_mut().push_str("\n\nAttached:");
        }
        turn.write(prompt::input(&text, turn.resumed));
        Ok(())
    }

    fn read(text: &str) -> Option<Wire<'_>> {
        Wire::read(text)
    }

    fn line(&mut self, wire: Wire<'_>, turn: &mut Turn) -> bool {
        let kind = wire.kind.as_str();
        self.confirm(kind, turn);
        match kind {
            "session" => {
                // A cut line may hold half an id.
                if !is_lower_case_uuid(wire.id.as_str()) {
                    return false;
                }
                turn.name(wire.id.as_str(), None, None);
            }
            "message_start" => {
                if let Some(message) = wire.message.0.filter(|message| message.role.as_str() == "assistant") {
                    self.withdraw(turn);
                    turn.current();
                    self.note_model(message.model.as_str(), turn);
                }
            }
            "message_update" => {
                if let Some(update) = wire.update.0 {
                    grow(update, turn);
                }
            }
            "message_end" => {
                let Some(message) = wire.message.0 else { return false };
                match message.role.as_str() {
                    "assistant" => self.answer(message, turn),
                    "toolResult" => {
                        let (id, error) = (message.tool_call_id.into_string(), message.is_error.is_set());
                        self.tool_result(id, message.content.into_text(), error, turn);
                    }
                    _ => {}
                }
            }
            "tool_execution_start" => {
                let id = wire.tool_call_id.into_string();
                if self.open.insert(id.clone()) {
                    let (message, name) = (turn.another(), wire.tool_name.into_string());
                    turn.emit(Event::ToolUse { message, id, name, input: wire.args, parent: None });
                }
            }
            "tool_execution_end" => {
                let output = wire.result.0.map(|result| result.content.into_text()).unwrap_or_default();
                self.tool_result(wire.tool_call_id.into_string(), output, wire.is_error.is_set(), turn);
            }
            "auto_retry_start" | "summarization_retry_scheduled" => {
                if kind == "auto_retry_start" {
                    self.broken = None;
                    self.withdraw(turn);
                }
                let failed = wire.error_message.filled().unwrap_or("the model's service failed");
                let (attempt, most) = (wire.attempt.count(), wire.max_attempts.count());
                turn.warn("retry", format!("{}; attempt {attempt} of {most}", failure::readable(failed)));
            }
            "auto_retry_end" => {
                if wire.success.0 == Some(false) {
                    let words = wire.final_error.filled().unwrap_or_default();
                    let broken = Broken { aborted: false, words: words.to_owned() };
                    let broken = self.broken.take().unwrap_or(broken);
                    let outcome = self.broke(&broken, turn);
                    turn.end(outcome);
                }
            }
            "compaction_start" | "auto_compaction_start" => {
                self.compacting = Some(wire.reason.into_string());
            }
            "compaction_end" | "auto_compaction_end" => self.compacted(wire, turn),
            // What follows a failure is another attempt, or nothing.
            "agent_end" if self.broken.is_some() => {}
            // It may shorten its memory now, and says when it is through (since 0.85).
            "agent_end" if wire.will_retry.0.is_some() => self.settling = !wire.will_retry.is_set(),
            // Up to 0.74 it says no more.
            "agent_end" => turn.end(Outcome::Completed),
            "agent_settled" => match self.broken.take() {
                Some(broken) => {
                    let outcome = self.broke(&broken, turn);
                    turn.end(outcome);
                }
                None if self.settling => turn.end(Outcome::Completed),
                None => {}
            },
            "extension_error" => turn.warn("extension", wire.error.into_string()),
            kind => return lists(QUIET_LINES, kind),
        }
        true
    }

    /// Older versions refuse on standard output.
    fn odd_line(&mut self, text: &str, turn: &mut Turn) -> bool {
        let rejection = failure::rejection(text).filter(|_| turn.may_be_rejected());
        if let Some(words) = rejection {
            turn.reject(words);
        }
        rejection.is_some()
    }

    /// Pi begins to shorten its memory when the answer is out, and does not tell of the end (0.74).
    fn late_line(&mut self, text: &str, turn: &mut Turn) {
        let wire = Wire::read(text).unwrap_or_default();
        if matches!(wire.kind.as_str(), "compaction_start" | "auto_compaction_start") {
            turn.emit(Event::Compaction { text: wire.reason.into_string() });
        }
    }

    fn rejection<'a>(&self, exit: &Exit<'a>) -> Option<&'a str> {
        failure::rejection(exit.stderr)
    }

    fn verdict(&mut self, exit: &Exit<'_>, turn: &mut Turn) -> Option<Outcome> {
        match self.broken.take() {
            Some(broken) => Some(self.broke(&broken, turn)),
            None => (exit.code == Some(0) && self.settling).then_some(Outcome::Completed),
        }
    }
}
