//! What Codex's lines mean.

use std::collections::HashMap;

use rejoin_core::{Event, FailureClass, Outcome, Usage};
use serde_json::Value;

use super::failure::FAILURES;
use super::wire::{Item, Wire};
use crate::failures::Failures;
use crate::one_shot::{Lines, ended_without_a_word};
use crate::session_id::is_lower_case_uuid;
use crate::turn_state::{Phase, Turn};
use crate::{Exit, Refusal, Step, TurnRequest};

/// Beyond this Codex names a session, refuses the prompt, and cannot resume that session (0.166).
const LONGEST_PROMPT: usize = 1 << 20;

#[derive(Default)]
pub(super) struct CodexLines {
    /// Calls whose beginning was seen, by Codex's id: it counts its items anew in every run, so
    /// each gets an id that is one of its kind.
    begun: HashMap<String, String>,
    /// Its plan, as it was told last.
    plan: Option<Value>,
    /// An error that is the last word if the turn fails now, and else a retry.
    error: Option<String>,
    last_retry: String,
}

impl CodexLines {
    /// Its plan is a list that stands open for the whole turn; a call of the tool that changes it is over at
    /// once.
    fn plan(&mut self, item: &Item<'_>, turn: &mut Turn) {
        let input = item.input();
        if self.plan.as_ref() == Some(&input) {
            return;
        }
        self.plan = Some(input);
        if let Some(name) = item.tool() {
            let id = self.call(item, name, turn);
            self.begun.remove(item.id.as_str());
            turn.close();
            turn.result(id, String::new(), false);
        }
    }

    /// Tells of a call and keeps it in mind.
    fn call(&mut self, item: &Item<'_>, name: String, turn: &mut Turn) -> String {
        let native = item.id.as_str();
        let id = format!("{}-{native}", turn.current().id.short());
        self.begun.insert(native.to_owned(), id.clone());
        turn.call(id.clone(), name, item.input());
        id
    }

    fn item_started(&mut self, item: &Item<'_>, turn: &mut Turn) -> bool {
        if item.is_plan() {
            self.plan(item, turn);
        } else if let Some(name) = item.tool() {
            self.call(item, name, turn);
        }
        item.is_known()
    }

    fn item_completed(&mut self, item: Item<'_>, turn: &mut Turn) -> bool {
        match item.kind.as_str() {
            "agent_message" | "assistant_message" => {
                let message = turn.current().id;
                turn.close();
                let (text, native) = (item.text.into_string(), item.id.into_filled());
                turn.emit(Event::Message { message, offset: 0, text, model: None, native });
            }
            "reasoning" => {
                let message = turn.current().id;
                turn.emit(Event::Thinking { message, text: item.text.into_string() });
            }
            "error" => turn.warn("codex", item.message.into_string()),
            kind if kind.ends_with("compaction") => {
                turn.emit(Event::Compaction { text: item.text.into_string() });
            }
            _ if item.is_plan() => self.plan(&item, turn),
            _ => {
                let Some(name) = item.tool() else { return false };
                if !self.begun.contains_key(item.id.as_str()) {
                    self.call(&item, name, turn);
                }
                let id = self.begun.remove(item.id.as_str()).unwrap_or_default();
                turn.close();
                let (output, error) = item.output();
                turn.result(id, output, error);
            }
        }
        true
    }

    /// Some retries go on for ever in the same words (0.166): once is enough.
    fn retry(&mut self, words: String, turn: &mut Turn) {
        if self.last_retry == words {
            turn.push(Step::Waiting);
        } else {
            self.last_retry.clone_from(&words);
            turn.warn("retry", words);
        }
    }

    fn failed(&mut self, words: String, turn: &mut Turn) {
        let error = self.error.take();
        let words = if words.is_empty() { error.unwrap_or_default() } else { words };
        turn.end(if turn.interrupted {
            Outcome::Cancelled
        } else {
            FAILURES.outcome(&words, FailureClass::Other)
        });
    }
}

impl Lines for CodexLines {
    type Wire<'a> = Wire<'a>;
    const TITLE: &'static str = "Codex";
    const FAILURES: Failures = FAILURES;

    fn begin(&mut self, request: &TurnRequest<'_>, turn: &mut Turn) -> Result<(), Refusal> {
        let prompt = request.composed.prompt();
        let length = prompt.chars().count();
        if length > LONGEST_PROMPT {
            return Err(Refusal::Unsupported(format!(
                "the prompt is {length} characters long and codex reads at most {LONGEST_PROMPT}: put the long part into \
                 a file and name it"
            )));
        }
        turn.write(prompt);
        Ok(())
    }

    fn line(&mut self, wire: Wire<'_>, turn: &mut Turn) -> bool {
        let kind = wire.kind.as_str();
        // An error is a retry, or the last word before the turn fails: the next line tells.
        if kind != "turn.failed"
            && let Some(words) = self.error.take()
        {
            self.retry(words, turn);
        }
        match kind {
            "thread.started" => {
                if !is_lower_case_uuid(wire.thread_id.as_str()) {
                    return false;
                }
                turn.name(wire.thread_id.as_str(), None, None);
            }
            // Versions before 0.123: another kind of id, and the model.
            "session.created" if turn.phase != Phase::Silent => {
                let session = turn.session.clone();
                turn.name(&session, wire.model.into_filled(), None);
            }
            "session.created" => {}
            "turn.started" => {
                turn.reach(Phase::Begun);
                turn.stored();
            }
            "message.output_text.delta" => turn.stream_text(wire.delta.into_string()),
            "item.started" => return wire.item.0.is_some_and(|item| self.item_started(&item, turn)),
            "item.completed" => return wire.item.0.is_some_and(|item| self.item_completed(item, turn)),
            "item.updated" => {
                let Some(item) = wire.item.0 else { return false };
                if !item.is_plan() {
                    return item.is_known();
                }
                self.plan(&item, turn);
            }
            "error" => {
                let words = wire.message.into_string();
                if words.starts_with("Reconnecting") {
                    self.retry(words, turn);
                } else {
                    self.error = Some(words);
                }
            }
            "turn.completed" => {
                if let Some(tokens) = wire.usage.0 {
                    turn.total(Usage::from(tokens));
                }
                turn.end(Outcome::Completed);
            }
            "turn.failed" => {
                let words = wire.error.0.map(|error| error.message.into_string()).unwrap_or_default();
                self.failed(words, turn);
            }
            _ => return false,
        }
        true
    }

    fn unsaid(&mut self, exit: &Exit<'_>, turn: &Turn) -> Outcome {
        if let Some(words) = self.error.take() {
            return FAILURES.outcome(&words, FailureClass::NoResult);
        }
        let attempt = Some(self.last_retry.as_str()).filter(|attempt| !attempt.is_empty());
        ended_without_a_word::<Self>(exit, turn, attempt)
    }
}
