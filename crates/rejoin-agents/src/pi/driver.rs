//! What Pi's lines mean.

use std::collections::HashSet;

use rejoin_core::{Agent, Event, FailureClass, MessageId, Outcome, Usage};

use super::failure::{self, Broken};
use super::messages::{Call, Messages};
use super::prompt::{self, Guard};
use super::wire::{GROWING, Growing, Message, Update, Wire, text_of};
use crate::driver::{diagnostic, ended_saying};
use crate::session_id::is_lower_case_uuid;
use crate::words::before_it_began;
use crate::{Driver, Exit, IdSource, Line, Refusal, Step, TurnRequest, checks, surrogates, truncated, turn};

/// Lines that are known and say nothing new about the turn.
const QUIET_LINES: &[&str] = &[
    "agent_start",
    "turn_start",
    "turn_end",
    "tool_execution_update",
    "queue_update",
    "thinking_level_changed",
    "session_info_changed",
    "entry_appended",
    "bash_execution_update",
    "summarization_retry_attempt_start",
    "summarization_retry_finished",
];

/// How the run was launched.
pub(super) struct Run {
    /// What keeps a prompt from acting.
    pub(super) guard: Guard,
    /// It was asked to resume a session.
    pub(super) resumed: bool,
    /// It stores its session.
    pub(super) stores: bool,
}

/// How far the turn has come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Silent,
    Named,
    Begun,
    /// An answer was told of. It is written before the next line is.
    Answered,
    Stored,
    Over,
}

pub(super) struct PiDriver {
    run: Run,
    agent: Agent,
    phase: Phase,
    session: String,
    model: String,
    messages: Messages,
    /// Calls that have not given anything back.
    open: HashSet<String>,
    usage: Usage,
    cost: f64,
    /// The failure of the turn, unless Pi asks again.
    broken: Option<Broken>,
    /// The answer is out, and Pi puts its things in order.
    settling: bool,
    /// Why Pi is shortening its memory right now.
    compacting: Option<String>,
    interrupted: bool,
}

impl PiDriver {
    pub(super) fn new(run: Run, agent: Agent, ids: IdSource) -> Self {
        Self {
            run,
            agent,
            phase: Phase::Silent,
            session: String::new(),
            model: String::new(),
            messages: Messages::new(ids),
            open: HashSet::new(),
            usage: Usage::default(),
            cost: 0.0,
            broken: None,
            settling: false,
            compacting: None,
            interrupted: false,
        }
    }

    /// Says whether the line was understood.
    fn event(&mut self, wire: Wire<'_>, out: &mut Vec<Step>) -> bool {
        let kind = wire.kind.as_str();
        self.confirm(kind, out);
        match kind {
            "session" => return self.named(wire.id.as_str(), out),
            "message_start" => {
                if let Some(message) = wire.message.0.filter(|message| message.role.as_str() == "assistant") {
                    self.messages.begin(out);
                    self.note_model(message.model.as_str(), out);
                }
            }
            "message_update" => {
                if let Some(update) = wire.update.0 {
                    self.grow(update, out);
                }
            }
            "message_end" => {
                let Some(message) = wire.message.0 else {
                    return false;
                };
                match message.role.as_str() {
                    "assistant" => self.answer(message, out),
                    "toolResult" => {
                        let (id, error) = (message.tool_call_id.into_string(), message.is_error.is_set());
                        self.tool_result(id, text_of(message.content), error, out);
                    }
                    _ => {}
                }
            }
            "tool_execution_start" => {
                let id = wire.tool_call_id.into_string();
                if !self.open.contains(&id) {
                    let message = self.messages.another();
                    let call = Call { id, name: wire.tool_name.into_string(), input: wire.args };
                    self.call(message, call, out);
                }
            }
            "tool_execution_end" => {
                let output = wire.result.0.map(|result| text_of(result.content)).unwrap_or_default();
                self.tool_result(wire.tool_call_id.into_string(), output, wire.is_error.is_set(), out);
            }
            "auto_retry_start" | "summarization_retry_scheduled" => {
                if kind == "auto_retry_start" {
                    self.broken = None;
                    self.messages.withdraw(out);
                }
                let text = format!(
                    "{}; attempt {} of {}",
                    failure::readable(wire.error_message.filled().unwrap_or("the model's service failed")),
                    wire.attempt.count(),
                    wire.max_attempts.count(),
                );
                out.push(Step::Emit(Event::Warning { code: "retry".into(), text }));
            }
            "auto_retry_end" => {
                if wire.success.0 == Some(false) {
                    let words = wire.final_error.filled().unwrap_or_default();
                    let broken = Broken { aborted: false, words: words.to_owned() };
                    let broken = self.broken.take().unwrap_or(broken);
                    self.broke(&broken, out);
                }
            }
            "compaction_start" | "auto_compaction_start" => {
                self.compacting = Some(wire.reason.into_string());
            }
            "compaction_end" | "auto_compaction_end" => self.compacted(wire, out),
            // What follows a failure is another attempt, or nothing.
            "agent_end" if self.broken.is_some() => {}
            // It may shorten its memory now, and says when it is through.
            "agent_end" if wire.will_retry.0.is_some() => self.settling = !wire.will_retry.is_set(),
            // Older ones say no more.
            "agent_end" => self.end(Outcome::Completed, out),
            "agent_settled" => match self.broken.take() {
                Some(broken) => self.broke(&broken, out),
                None if self.settling => self.end(Outcome::Completed, out),
                None => {}
            },
            "extension_error" => {
                let text = wire.error.into_string();
                out.push(Step::Emit(Event::Warning { code: "extension".into(), text }));
            }
            kind => return QUIET_LINES.contains(&kind),
        }
        true
    }

    /// What a line shows by being there at all.
    fn confirm(&mut self, kind: &str, out: &mut Vec<Step>) {
        if self.phase == Phase::Answered {
            self.phase = Phase::Stored;
            if self.run.stores {
                out.push(Step::Stored);
            }
        }
        if kind == "agent_start" {
            self.broken = None;
            self.settling = false;
            if self.phase == Phase::Named {
                self.phase = Phase::Begun;
            }
        }
    }

    fn named(&mut self, session: &str, out: &mut Vec<Step>) -> bool {
        // A cut line may hold half an id.
        if !is_lower_case_uuid(session) {
            return false;
        }
        if self.phase == Phase::Silent {
            self.phase = Phase::Named;
        }
        session.clone_into(&mut self.session);
        self.tell_session(None, out);
        true
    }

    fn note_model(&mut self, model: &str, out: &mut Vec<Step>) {
        if !model.is_empty() && model != self.model && !self.session.is_empty() {
            model.clone_into(&mut self.model);
            self.tell_session(Some(model.to_owned()), out);
        }
    }

    fn tell_session(&self, model: Option<String>, out: &mut Vec<Step>) {
        let (agent, session) = (self.agent.clone(), self.session.clone());
        out.push(Step::Emit(Event::Session { agent, session, model, agent_version: None }));
    }

    fn grow(&mut self, update: Update<'_>, out: &mut Vec<Step>) {
        match update.kind.as_str() {
            "text_delta" => self.messages.stream_text(update.delta.into_string(), out),
            "thinking_delta" => self.messages.stream_thinking(update.delta.into_string(), out),
            _ => {}
        }
    }

    /// The model finished a message, or broke off in it.
    fn answer(&mut self, message: Message<'_>, out: &mut Vec<Step>) {
        if matches!(self.phase, Phase::Silent | Phase::Named | Phase::Begun) {
            self.phase = Phase::Answered;
        }
        let told = message.usage.0.as_ref().map(|tokens| (tokens.usage(), tokens.cost()));
        let broken = match message.stop_reason.as_str() {
            "error" | "aborted" => Some(Broken {
                aborted: message.stop_reason.as_str() == "aborted",
                words: message.error.as_str().to_owned(),
            }),
            _ => None,
        };
        if message.stop_reason.as_str() == "length" {
            let text = "the answer was cut off at the model's limit of tokens".to_owned();
            out.push(Step::Emit(Event::Warning { code: "length".into(), text }));
        }
        if broken.is_some() {
            self.messages.hold(message);
        } else {
            for (message, call) in self.messages.finish(message, out) {
                self.call(message, call, out);
            }
        }
        self.broken = broken;
        if let Some((usage, cost)) = told.filter(|(usage, cost)| !usage.is_zero() || *cost > 0.0) {
            self.usage += usage;
            self.cost += cost;
            let cost = Some(self.cost).filter(|cost| *cost > 0.0);
            out.push(Step::Emit(Event::Usage { usage: self.usage, cost }));
        }
    }

    fn call(&mut self, message: MessageId, call: Call, out: &mut Vec<Step>) {
        self.open.insert(call.id.clone());
        let Call { id, name, input } = call;
        out.push(Step::Emit(Event::ToolUse { message, id, name, input, parent: None }));
    }

    /// A result is told twice: as the end of the call and as a message.
    fn tool_result(&mut self, id: String, output: String, error: bool, out: &mut Vec<Step>) {
        if self.open.remove(&id) {
            let message = self.messages.another();
            out.push(Step::Emit(Event::ToolResult { message, id, output, error, parent: None }));
        }
    }

    fn compacted(&mut self, wire: Wire<'_>, out: &mut Vec<Step>) {
        let begun = self.compacting.take().unwrap_or_default();
        let reason = wire.reason.into_filled().unwrap_or(begun);
        if let Some(result) = wire.result.0 {
            let before = result.tokens_before.count();
            let text = if before > 0 { format!("{reason}: {before} tokens before") } else { reason };
            out.push(Step::Emit(Event::Compaction { text }));
        } else if let Some(words) = wire.error_message.into_filled() {
            out.push(Step::Emit(Event::Warning { code: "compaction".into(), text: words }));
        }
    }

    /// The model's last message broke off, and nobody asks again.
    fn broke(&mut self, broken: &Broken, out: &mut Vec<Step>) {
        self.messages.keep(out);
        if let Some(reason) = self.compacting.take() {
            out.push(Step::Emit(Event::Compaction { text: reason }));
        }
        let outcome = if self.interrupted { Outcome::Cancelled } else { broken.outcome() };
        self.end(outcome, out);
    }

    fn end(&mut self, outcome: Outcome, out: &mut Vec<Step>) {
        self.phase = Phase::Over;
        out.push(Step::Ended(outcome));
    }

    /// Whether these words refuse to resume.
    fn rejected(&mut self, words: &str, out: &mut Vec<Step>) -> bool {
        let possible = self.run.resumed && self.phase == Phase::Silent;
        let Some(words) = failure::rejection(words).filter(|_| possible) else {
            return false;
        };
        self.phase = Phase::Over;
        out.push(Step::Rejected(words.to_owned()));
        true
    }

    /// The process ended without a word about the turn on its output.
    fn unsaid(&self, exit: &Exit<'_>) -> Outcome {
        if self.interrupted {
            return Outcome::Cancelled;
        }
        let words = failure::last_words(exit.stderr);
        let refused =
            matches!(self.phase, Phase::Silent | Phase::Named) && exit.code.is_some_and(|code| code != 0);
        if !refused {
            return Outcome::failed(FailureClass::NoResult, ended_saying("Pi", exit, words));
        }
        match words {
            Some(words) => Outcome::failed(failure::classify(words, before_it_began(words)), words),
            None => Outcome::failed(FailureClass::Launch, ended_saying("Pi", exit, None)),
        }
    }

    fn read(&mut self, text: &str, out: &mut Vec<Step>) -> Option<bool> {
        if text.starts_with(GROWING) {
            let growing: Growing<'_> = serde_json::from_str(text).ok()?;
            self.confirm("message_update", out);
            if let Some(update) = growing.update.0 {
                self.grow(update, out);
            }
            return Some(true);
        }
        let wire = serde_json::from_str(text).ok()?;
        Some(self.event(wire, out))
    }
}

/// Pi begins to shorten its memory when the answer is out, and does not tell of the end.
fn after_the_end(text: &str, out: &mut Vec<Step>) {
    if text.starts_with(GROWING) {
        return;
    }
    let wire: Wire<'_> = serde_json::from_str(text).unwrap_or_default();
    if matches!(wire.kind.as_str(), "compaction_start" | "auto_compaction_start") {
        out.push(Step::Emit(Event::Compaction { text: wire.reason.into_string() }));
    }
}

impl Driver for PiDriver {
    fn begin_turn(&mut self, turn: &TurnRequest<'_>, out: &mut Vec<Step>) -> Result<(), Refusal> {
        checks::prompt(turn.composed.prompt())?;
        let written = prompt::written(turn.composed.prompt(), self.run.guard);
        out.extend(written.warning.map(turn::warning));
        let mut text = written.text;
        if !turn.attachments.is_empty() {
            // Pi puts texts right behind the prompt.
            text.to_mut().push_str("\n\nAttached:");
        }
        out.extend([Step::Write(prompt::input(&text, self.run.resumed)), Step::CloseStdin]);
        Ok(())
    }

    fn on_line(&mut self, line: Line<'_>, out: &mut Vec<Step>) {
        if line.bytes.trim_ascii().is_empty() {
            return;
        }
        let text = truncated::text(line);
        if self.phase == Phase::Over {
            return after_the_end(&text, out);
        }
        let read = match self.read(&text, out) {
            None => surrogates::mended(&text).and_then(|text| self.read(&text, out)),
            read => read,
        };
        // Older versions refuse on standard output.
        if read != Some(true) && !self.rejected(&text, out) {
            out.push(diagnostic(line));
        }
    }

    fn on_exit(&mut self, exit: &Exit<'_>, out: &mut Vec<Step>) {
        if self.phase == Phase::Over {
            return;
        }
        if self.rejected(exit.stderr, out) {
            return;
        }
        if let Some(broken) = self.broken.take() {
            return self.broke(&broken, out);
        }
        let outcome = match exit.code {
            Some(0) if self.settling => Outcome::Completed,
            _ => self.unsaid(exit),
        };
        self.end(outcome, out);
    }

    fn interrupt(&mut self, _out: &mut Vec<Step>) {
        self.interrupted = true;
    }
}
