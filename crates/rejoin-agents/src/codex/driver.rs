//! What Codex's lines mean.

use std::collections::HashMap;

use rejoin_core::{Agent, Event, FailureClass, MessageId, Outcome, Usage};
use serde_json::Value;

use super::failure;
use super::wire::{Item, Wire};
use crate::driver::{ended_saying, read_line};
use crate::session_id::is_lower_case_uuid;
use crate::words::before_it_began;
use crate::{Driver, Exit, IdSource, Line, Refusal, Step, TurnRequest, checks};

/// Beyond this Codex names a session, refuses the prompt, and cannot resume that session.
const LONGEST_PROMPT: usize = 1 << 20;

/// How far the turn has come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Silent,
    Named,
    Begun,
    Over,
}

pub(super) struct CodexDriver {
    resumed: bool,
    stores: bool,
    total_before: Usage,
    ids: IdSource,
    phase: Phase,
    thread: String,
    /// The message of the current step: thinking and the text it leads to are one.
    current: Option<Current>,
    /// Calls whose beginning was seen, by Codex's id: it counts its items anew in every run, so
    /// each gets an id that is one of its kind.
    begun: HashMap<String, String>,
    /// Its plan, as it was told last.
    plan: Option<Value>,
    /// An error that is the last word if the turn fails now, and else a retry.
    error: Option<String>,
    last_retry: String,
    interrupted: bool,
}

struct Current {
    id: MessageId,
    streamed: usize,
}

impl CodexDriver {
    pub(super) fn new(resumed: bool, stores: bool, total_before: Usage, ids: IdSource) -> Self {
        Self {
            resumed,
            stores,
            total_before,
            ids,
            phase: Phase::Silent,
            thread: String::new(),
            current: None,
            begun: HashMap::new(),
            plan: None,
            error: None,
            last_retry: String::new(),
            interrupted: false,
        }
    }

    fn current(&mut self) -> &mut Current {
        let ids = &mut self.ids;
        self.current.get_or_insert_with(|| Current { id: ids(), streamed: 0 })
    }

    /// Says whether the line was understood.
    fn event(&mut self, wire: Wire<'_>, out: &mut Vec<Step>) -> bool {
        let kind = wire.kind.as_str();
        if kind != "turn.failed" {
            self.error_was_a_retry(out);
        }
        match kind {
            "thread.started" => {
                if !is_lower_case_uuid(wire.thread_id.as_str()) {
                    return false;
                }
                self.phase = Phase::Named;
                self.thread = wire.thread_id.into_string();
                self.name(None, out);
            }
            // Older versions: another kind of id, and the model.
            "session.created" if self.phase != Phase::Silent => self.name(wire.model.into_filled(), out),
            "turn.started" => {
                self.phase = Phase::Begun;
                if self.stores {
                    out.push(Step::Stored);
                }
            }
            "message.output_text.delta" => {
                let text = wire.delta.into_string();
                let current = self.current();
                let (message, offset) = (current.id, current.streamed);
                current.streamed += text.len();
                out.push(Step::Emit(Event::TextDelta { message, offset, text }));
            }
            "item.started" => return wire.item.0.is_some_and(|item| self.item_started(&item, out)),
            "item.completed" => return wire.item.0.is_some_and(|item| self.item_completed(item, out)),
            "item.updated" => {
                let Some(item) = wire.item.0 else { return false };
                if !item.is_plan() {
                    return item.is_known();
                }
                self.plan(&item, out);
            }
            "session.created" => {}
            "error" => self.error_line(wire.message.into_string(), out),
            "turn.completed" => {
                if let Some(tokens) = wire.usage.0 {
                    let total = Usage::from(tokens);
                    out.push(Step::Total(total));
                    out.push(Step::Emit(Event::Usage { usage: total.since(self.total_before), cost: None }));
                }
                self.end(Outcome::Completed, out);
            }
            "turn.failed" => {
                let words = wire.error.0.map(|error| error.message.into_string()).unwrap_or_default();
                self.failed(words, out);
            }
            _ => return false,
        }
        true
    }

    fn name(&mut self, model: Option<String>, out: &mut Vec<Step>) {
        out.push(Step::Emit(Event::Session {
            agent: Agent::Codex,
            session: self.thread.clone(),
            model,
            agent_version: None,
        }));
    }

    /// Its plan is a list that stands open for the whole turn; a call of the tool that changes it is over at
    /// once.
    fn plan(&mut self, item: &Item<'_>, out: &mut Vec<Step>) {
        let input = item.input();
        if self.plan.as_ref() == Some(&input) {
            return;
        }
        self.plan = Some(input);
        if let Some(name) = item.tool() {
            let id = self.call(item, name, out);
            self.begun.remove(item.id.as_str());
            self.current = None;
            let (message, output) = ((self.ids)(), String::new());
            out.push(Step::Emit(Event::ToolResult { message, id, output, error: false, parent: None }));
        }
    }

    fn item_started(&mut self, item: &Item<'_>, out: &mut Vec<Step>) -> bool {
        if item.is_plan() {
            self.plan(item, out);
            return true;
        }
        if let Some(name) = item.tool() {
            self.call(item, name, out);
        }
        item.is_known()
    }

    /// Tells of a call and keeps it in mind.
    fn call(&mut self, item: &Item<'_>, name: String, out: &mut Vec<Step>) -> String {
        let message = self.current().id;
        let native = item.id.as_str();
        let id = format!("{}-{native}", message.short());
        self.begun.insert(native.to_owned(), id.clone());
        let input = item.input();
        out.push(Step::Emit(Event::ToolUse { message, id: id.clone(), name, input, parent: None }));
        id
    }

    fn item_completed(&mut self, item: Item<'_>, out: &mut Vec<Step>) -> bool {
        match item.kind.as_str() {
            "agent_message" | "assistant_message" => {
                let message = self.current().id;
                self.current = None;
                out.push(Step::Emit(Event::Message {
                    message,
                    offset: 0,
                    text: item.text.into_string(),
                    model: None,
                    native: item.id.into_filled(),
                }));
            }
            "reasoning" => {
                let message = self.current().id;
                out.push(Step::Emit(Event::Thinking { message, text: item.text.into_string() }));
            }
            "error" => {
                let text = item.message.into_string();
                out.push(Step::Emit(Event::Warning { code: "codex".into(), text }));
            }
            kind if kind.ends_with("compaction") => {
                out.push(Step::Emit(Event::Compaction { text: item.text.into_string() }));
            }
            _ if item.is_plan() => self.plan(&item, out),
            _ => {
                let Some(name) = item.tool() else {
                    return false;
                };
                if !self.begun.contains_key(item.id.as_str()) {
                    self.call(&item, name, out);
                }
                let id = self.begun.remove(item.id.as_str()).unwrap_or_default();
                self.current = None;
                let (output, error) = item.output();
                let message = (self.ids)();
                out.push(Step::Emit(Event::ToolResult { message, id, output, error, parent: None }));
            }
        }
        true
    }

    /// An error is a retry, or the last word before the turn fails: the next line tells.
    fn error_line(&mut self, words: String, out: &mut Vec<Step>) {
        if words.starts_with("Reconnecting") {
            self.retry(words, out);
        } else {
            self.error = Some(words);
        }
    }

    fn error_was_a_retry(&mut self, out: &mut Vec<Step>) {
        if let Some(words) = self.error.take() {
            self.retry(words, out);
        }
    }

    /// Some retries go on for ever in the same words: once is enough.
    fn retry(&mut self, words: String, out: &mut Vec<Step>) {
        if self.last_retry == words {
            out.push(Step::Waiting);
        } else {
            self.last_retry.clone_from(&words);
            out.push(Step::Emit(Event::Warning { code: "retry".into(), text: words }));
        }
    }

    fn failed(&mut self, words: String, out: &mut Vec<Step>) {
        let error = self.error.take();
        let words = if words.is_empty() { error.unwrap_or_default() } else { words };
        let outcome = if self.interrupted {
            Outcome::Cancelled
        } else {
            Outcome::failed(failure::classify(&words, FailureClass::Other), failure::readable(&words))
        };
        self.end(outcome, out);
    }

    fn end(&mut self, outcome: Outcome, out: &mut Vec<Step>) {
        self.phase = Phase::Over;
        out.push(Step::Ended(outcome));
    }

    /// The process ended without a word about the turn on its output.
    fn unsaid(&mut self, exit: &Exit<'_>) -> Outcome {
        if self.interrupted {
            return Outcome::Cancelled;
        }
        if let Some(words) = self.error.take() {
            return Outcome::failed(
                failure::classify(&words, FailureClass::NoResult),
                failure::readable(&words),
            );
        }
        let refused = self.phase != Phase::Begun && exit.code.is_some_and(|code| code != 0);
        let words = failure::last_words(exit.stderr);
        if let Some(words) = words.filter(|_| refused) {
            return Outcome::failed(
                failure::classify(words, before_it_began(words)),
                failure::readable(words),
            );
        }
        let class = if refused { FailureClass::Launch } else { FailureClass::NoResult };
        let retry = Some(self.last_retry.as_str()).filter(|retry| !retry.is_empty());
        Outcome::failed(class, ended_saying("Codex", exit, words.or(retry)))
    }
}

impl Driver for CodexDriver {
    fn begin_turn(&mut self, turn: &TurnRequest<'_>, out: &mut Vec<Step>) -> Result<(), Refusal> {
        let prompt = turn.composed.prompt();
        checks::prompt(prompt)?;
        let length = prompt.chars().count();
        if length > LONGEST_PROMPT {
            return Err(Refusal::Unsupported(format!(
                "the prompt is {length} characters long and codex reads at most {LONGEST_PROMPT}: put the long part into \
                 a file and name it"
            )));
        }
        out.extend([Step::Write(prompt.into()), Step::CloseStdin]);
        Ok(())
    }

    fn on_line(&mut self, line: Line<'_>, out: &mut Vec<Step>) {
        if self.phase == Phase::Over || line.bytes.trim_ascii().is_empty() {
            return;
        }
        read_line(line, out, |text, out| Some(self.event(serde_json::from_str(text).ok()?, out)));
    }

    fn on_exit(&mut self, exit: &Exit<'_>, out: &mut Vec<Step>) {
        if self.phase == Phase::Over {
            return;
        }
        if self.resumed && self.phase == Phase::Silent && failure::is_rejection(exit.stderr) {
            self.phase = Phase::Over;
            let words = failure::last_words(exit.stderr).unwrap_or_default().to_owned();
            out.push(Step::Rejected(words));
            return;
        }
        let outcome = self.unsaid(exit);
        self.end(outcome, out);
    }

    fn interrupt(&mut self, _out: &mut Vec<Step>) {
        self.interrupted = true;
    }
}
