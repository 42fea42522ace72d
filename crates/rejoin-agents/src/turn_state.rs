//! A turn as it is told: how far it has come, and the message that is being written.

use std::collections::VecDeque;

use rejoin_core::{Agent, Event, MessageId, Outcome, Usage};
use serde_json::Value;

use crate::{IdSource, Step, TurnRequest};

/// How far a turn has come. Not every agent shows all of it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Phase {
    /// It said nothing.
    Silent,
    /// It named its session.
    Named,
    /// It began.
    Begun,
    /// It answered, and is about to store that.
    Answered,
    /// Its session can be resumed.
    Stored,
    /// It said how the turn ended.
    Over,
}

/// One turn: what is known of it, and what is to be done.
#[allow(clippy::struct_excessive_bools, reason = "each is a question of its own")]
pub(crate) struct Turn {
    agent: Agent,
    /// The session is kept.
    pub(crate) stores: bool,
    /// It was asked to resume a session.
    pub(crate) resumed: bool,
    /// What the session had counted before.
    total_before: Usage,
    ids: IdSource,
    pub(crate) phase: Phase,
    /// The agent's input is open until the turn ends.
    pub(crate) open: bool,
    /// It was asked to stop.
    pub(crate) interrupted: bool,
    /// The session, once it was named.
    pub(crate) session: String,
    current: Option<Current>,
    /// Some text was said.
    pub(crate) said: bool,
    usage: Usage,
    cost: f64,
    /// What the engine should do next.
    pub(crate) steps: Vec<Step>,
}

/// The message that is being written.
pub(crate) struct Current {
    pub(crate) id: MessageId,
    /// The agent's id of it, as far as it has one.
    pub(crate) native: String,
    /// Bytes of text in finished blocks.
    finished: usize,
    /// Bytes streamed of each block that is not finished.
    streamed: VecDeque<usize>,
    /// The thinking was streamed: its finished block says nothing new.
    pub(crate) thought: bool,
}

impl Turn {
    pub(crate) fn new(agent: Agent, stores: bool, request: &TurnRequest<'_>) -> Self {
        Self {
            agent,
            stores,
            resumed: request.composed.session().is_some(),
            total_before: request.total_before,
            ids: request.ids.clone(),
            phase: Phase::Silent,
            open: false,
            interrupted: false,
            session: String::new(),
            current: None,
            said: false,
            usage: Usage::default(),
            cost: 0.0,
            steps: Vec::new(),
        }
    }

    pub(crate) fn push(&mut self, step: Step) {
        self.steps.push(step);
    }

    pub(crate) fn emit(&mut self, event: Event) {
        self.steps.push(Step::Emit(event));
    }

    pub(crate) fn warn(&mut self, code: &str, text: impl Into<String>) {
        self.emit(Event::Warning { code: code.to_owned(), text: text.into() });
    }

    /// Writes all that the agent is told, and closes its input.
    pub(crate) fn write(&mut self, text: impl Into<Vec<u8>>) {
        self.steps.extend([Step::Write(text.into()), Step::CloseStdin]);
    }

    /// The turn has come so far, or farther.
    pub(crate) fn reach(&mut self, phase: Phase) {
        self.phase = self.phase.max(phase);
    }

    pub(crate) fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    /// Nothing happened yet, and a session was asked for.
    pub(crate) fn may_be_rejected(&self) -> bool {
        self.resumed && self.phase == Phase::Silent
    }

    /// The agent names its session.
    pub(crate) fn name(&mut self, session: &str, model: Option<String>, agent_version: Option<String>) {
        self.reach(Phase::Named);
        session.clone_into(&mut self.session);
        let (agent, session) = (self.agent.clone(), session.to_owned());
        self.emit(Event::Session { agent, session, model, agent_version });
    }

    /// The session can be resumed from now on, if it was named.
    pub(crate) fn stored(&mut self) {
        if (Phase::Named..Phase::Stored).contains(&self.phase) {
            self.phase = Phase::Stored;
            self.say_stored();
        }
    }

    /// The same, as often as it is said.
    pub(crate) fn say_stored(&mut self) {
        if self.stores {
            self.push(Step::Stored);
        }
    }

    /// What one step of the turn took.
    pub(crate) fn count(&mut self, usage: Usage, cost: f64) {
        self.usage += usage;
        self.cost += cost;
        // Models without a price cost nothing, which is nothing to tell.
        self.emit(Event::Usage { usage: self.usage, cost: Some(self.cost).filter(|cost| *cost > 0.0) });
    }

    /// What the session took until now.
    pub(crate) fn total(&mut self, total: Usage) {
        self.push(Step::Total(total));
        self.emit(Event::Usage { usage: total.since(self.total_before), cost: None });
    }

    /// The turn is over.
    pub(crate) fn end(&mut self, outcome: Outcome) {
        self.finish(Step::Ended(outcome));
    }

    /// The session is not resumed.
    pub(crate) fn reject(&mut self, words: &str) {
        self.finish(Step::Rejected(words.to_owned()));
    }

    fn finish(&mut self, last: Step) {
        self.phase = Phase::Over;
        if self.open {
            self.push(Step::CloseStdin);
        }
        self.push(last);
    }

    /// An id for a message that is no answer.
    pub(crate) fn another(&mut self) -> MessageId {
        (self.ids)()
    }

    /// The message that is being written; one begins if there is none.
    pub(crate) fn current(&mut self) -> &mut Current {
        self.current.get_or_insert_with(|| Current::new((self.ids)(), ""))
    }

    /// The message with the agent's id; if another was being written, that one is finished.
    pub(crate) fn current_of(&mut self, native: &str) -> &mut Current {
        let known = self.current.take().filter(|current| current.native == native);
        self.current.insert(known.unwrap_or_else(|| Current::new((self.ids)(), native)))
    }

    /// A message with the agent's id begins, or goes on. If another was not finished, its stream broke and the
    /// model was asked again.
    pub(crate) fn begin(&mut self, native: &str) -> MessageId {
        if self.current.as_ref().is_some_and(|current| current.native != native) {
            self.withdraw();
        }
        self.current_of(native).id
    }

    /// The message is finished.
    pub(crate) fn close(&mut self) {
        self.current = None;
    }

    /// The message is asked for again: what was streamed of it is no part of the answer.
    pub(crate) fn withdraw(&mut self) {
        if let Some(current) = self.current.take().filter(Current::is_streamed) {
            let (message, offset, native) = (current.id, current.finished, filled(current.native));
            self.emit(Event::Message { message, offset, text: String::new(), model: None, native });
        }
    }

    /// A block of text begins.
    pub(crate) fn begin_text(&mut self) {
        self.current().streamed.push_back(0);
    }

    /// A piece of text.
    pub(crate) fn stream_text(&mut self, text: String) {
        if text.is_empty() {
            return;
        }
        let current = self.current();
        let (message, offset) = (current.id, current.finished + current.streamed.iter().sum::<usize>());
        match current.streamed.back_mut() {
            Some(bytes) => *bytes += text.len(),
            None => current.streamed.push_back(text.len()),
        }
        self.said = true;
        self.emit(Event::TextDelta { message, offset, text });
    }

    /// A finished block of text.
    pub(crate) fn finish_text(&mut self, text: String, model: Option<String>) {
        let current = self.current();
        let streamed = current.streamed.pop_front().unwrap_or(0);
        if text.is_empty() && streamed == 0 {
            return;
        }
        let (message, offset, native) = (current.id, current.finished, filled(current.native.clone()));
        current.finished += text.len();
        self.said = true;
        self.emit(Event::Message { message, offset, text, model, native });
    }

    /// A piece of thinking.
    pub(crate) fn stream_thinking(&mut self, text: String) {
        if !text.is_empty() {
            let current = self.current();
            current.thought = true;
            let message = current.id;
            self.emit(Event::Thinking { message, text });
        }
    }

    /// A finished block of thinking.
    pub(crate) fn finish_thinking(&mut self, text: String) {
        let current = self.current();
        let (message, streamed) = (current.id, std::mem::take(&mut current.thought));
        if !streamed && !text.is_empty() {
            self.emit(Event::Thinking { message, text });
        }
    }

    /// A call of a tool, made by the message that is being written.
    pub(crate) fn call(&mut self, id: String, name: String, input: Value) {
        let message = self.current().id;
        self.emit(Event::ToolUse { message, id, name, input, parent: None });
    }

    /// What a call gave back.
    pub(crate) fn result(&mut self, id: String, output: String, error: bool) {
        let message = self.another();
        self.emit(Event::ToolResult { message, id, output, error, parent: None });
    }
}

impl Current {
    /// Some text that is not finished was streamed.
    pub(crate) fn is_streamed(&self) -> bool {
        self.streamed.iter().any(|bytes| *bytes > 0)
    }

    fn new(id: MessageId, native: &str) -> Self {
        let (finished, streamed) = (0, VecDeque::new());
        Self { id, native: native.to_owned(), finished, streamed, thought: false }
    }
}

fn filled(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}
