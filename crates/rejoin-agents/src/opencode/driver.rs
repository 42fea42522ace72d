//! What OpenCode's lines mean.
//!
//! It prints whole blocks, only finished calls, and nothing of subagents but their results. The end
//! of a turn has no line of its own: a step that stopped is followed by the end of the process, or,
//! if the memory was full, by a summary and more steps. So the process's end is the turn's.

use rejoin_core::{Event, FailureClass, MessageId, Outcome, Usage};

use super::failure::{self, Failure};
use super::id::is_session;
use super::wire::{Part, Wire};
use crate::attached::Reads;
use crate::driver::{ended_saying, read_line};
use crate::words::before_it_began;
use crate::{Driver, Exit, IdSource, Line, Refusal, Step, TurnRequest, checks};

/// What its reading tool shows of a file, which is how it reads attached ones.
const READS: Reads = Reads { bytes: 48_000, lines: 2000, width: 2000 };

pub(super) struct OpenCodeDriver {
    run: Run,
    ids: IdSource,
    session: String,
    current: Option<Current>,
    /// What the last step said in text: a summary, if it turns out that the memory was shortened.
    last_text: Option<(MessageId, String)>,
    /// Why the last finished step ended.
    finish: String,
    usage: Usage,
    cost: Option<f64>,
    error: Option<Failure>,
    /// Something OpenCode would have had to ask for.
    refused: Option<String>,
    interrupted: bool,
    over: bool,
}

/// What is known of a run beforehand.
pub(super) struct Run {
    pub(super) resumed: bool,
    pub(super) stores: bool,
    /// A model was named.
    pub(super) model: Option<String>,
    /// The agent it must run as: falling back to another one would drop the limits.
    pub(super) profile: Option<String>,
}

/// The message being written.
struct Current {
    native: String,
    id: MessageId,
    /// Bytes of text so far.
    written: usize,
}

impl OpenCodeDriver {
    pub(super) fn new(run: Run, ids: IdSource) -> Self {
        Self {
            run,
            ids,
            session: String::new(),
            current: None,
            last_text: None,
            finish: String::new(),
            usage: Usage::default(),
            cost: None,
            error: None,
            refused: None,
            interrupted: false,
            over: false,
        }
    }

    /// The message of that native id; after a tool's result another one begins.
    fn current(&mut self, native: &str) -> &mut Current {
        if self.current.as_ref().is_some_and(|current| current.native != native) {
            self.current = None;
        }
        let ids = &mut self.ids;
        self.current.get_or_insert_with(|| Current { native: native.to_owned(), id: ids(), written: 0 })
    }

    /// Says whether the line was understood.
    fn event(&mut self, wire: Wire<'_>, out: &mut Vec<Step>) -> bool {
        let named = is_session(wire.session.as_str());
        if named && self.session != wire.session.as_str() {
            self.session = wire.session.into_string();
            out.push(Step::Emit(Event::Session {
                agent: super::agent(),
                session: self.session.clone(),
                model: None,
                agent_version: None,
            }));
            // It stores the session and the prompt before it asks the model.
            if self.run.stores {
                out.push(Step::Stored);
            }
        }
        let kind = wire.kind.as_str();
        if kind == "error" {
            let failure = wire.error.0.as_ref().map_or_else(Failure::unknown, failure::of);
            self.error = Some(failure);
            return true;
        }
        let Some(part) = wire.part.0 else {
            return false;
        };
        match kind {
            "step_start" => {
                self.last_text = None;
                self.finish.clear();
            }
            "text" => self.text(part, out),
            "reasoning" => {
                let message = self.current(part.message.as_str()).id;
                out.push(Step::Emit(Event::Thinking { message, text: part.text.into_string() }));
            }
            "tool_use" => return self.call(part, out),
            "step_finish" => self.step_finished(&part, out),
            _ => return false,
        }
        true
    }

    fn text(&mut self, part: Part<'_>, out: &mut Vec<Step>) {
        if part.synthetic.is_set() {
            if part.goes_on_after_compaction() {
                self.compacted(out);
            }
            return;
        }
        let native = part.message.into_string();
        let text = part.text.into_string();
        let current = self.current(&native);
        let (message, offset) = (current.id, current.written);
        current.written += text.len();
        match &mut self.last_text {
            Some((same, all)) if *same == message => all.push_str(&text),
            _ => self.last_text = Some((message, text.clone())),
        }
        let native = Some(native).filter(|native| !native.is_empty());
        out.push(Step::Emit(Event::Message { message, offset, text, model: None, native }));
    }

    /// The last step was no answer but the summary of what came before.
    fn compacted(&mut self, out: &mut Vec<Step>) {
        let mut summary = String::new();
        if let Some((message, text)) = self.last_text.take() {
            summary = text;
            let text = String::new();
            out.push(Step::Emit(Event::Message { message, offset: 0, text, model: None, native: None }));
        }
        self.current = None;
        self.finish.clear();
        // A memory that was full is what it was shortened for.
        self.error = self.error.take().filter(|error| error.class != FailureClass::ContextOverflow);
        out.push(Step::Emit(Event::Compaction { text: summary }));
    }

    fn call(&mut self, part: Part<'_>, out: &mut Vec<Step>) -> bool {
        let message = self.current(part.message.as_str()).id;
        let Some(call) = part.into_call() else {
            return false;
        };
        let (id, output, error) = (call.id, call.output, call.failed);
        self.last_text = None;
        self.current = None;
        out.push(Step::Emit(Event::ToolUse {
            message,
            id: id.clone(),
            name: call.name,
            input: call.input,
            parent: None,
        }));
        let message = (self.ids)();
        out.push(Step::Emit(Event::ToolResult { message, id, output, error, parent: None }));
        true
    }

    fn step_finished(&mut self, part: &Part<'_>, out: &mut Vec<Step>) {
        part.reason.as_str().clone_into(&mut self.finish);
        if let Some(usage) = part.usage() {
            self.usage += usage;
        }
        if let Some(cost) = part.cost.0 {
            self.cost = Some(self.cost.unwrap_or_default() + cost);
        }
        // Models without a price cost nothing, which is nothing to tell.
        let cost = self.cost.filter(|cost| *cost > 0.0);
        out.push(Step::Emit(Event::Usage { usage: self.usage, cost }));
    }

    fn end(&mut self, outcome: Outcome, out: &mut Vec<Step>) {
        self.over = true;
        out.push(Step::Ended(outcome));
    }

    fn outcome(&mut self, exit: &Exit<'_>, out: &mut Vec<Step>) -> Outcome {
        if let Some(error) = self.error.take() {
            if self.interrupted && error.aborted {
                return Outcome::Cancelled;
            }
            return error.outcome(self.run.model.as_deref());
        }
        match self.finish.as_str() {
            "stop" => return Outcome::Completed,
            "length" => {
                let text = "the answer was cut at the model's limit of output";
                out.push(Step::Emit(Event::Warning { code: "length".into(), text: text.into() }));
                return Outcome::Completed;
            }
            _ if self.interrupted => return Outcome::Cancelled,
            _ => {}
        }
        if let Some(refused) = &self.refused {
            let words = format!(
                "OpenCode stopped because nobody could be asked for leave to use {refused}: allow it in its \
                 configuration, or choose a level with --permissions"
            );
            return Outcome::failed(FailureClass::Setup, words);
        }
        let words = failure::last_words(exit.stderr);
        if self.session.is_empty() && exit.code.is_some_and(|code| code != 0) {
            let words = words.map_or_else(|| ended_saying("OpenCode", exit, None), str::to_owned);
            return Outcome::failed(failure::by_words(&words, before_it_began(&words)), words);
        }
        Outcome::failed(FailureClass::NoResult, ended_saying("OpenCode", exit, words))
    }
}

impl Driver for OpenCodeDriver {
    fn begin_turn(&mut self, turn: &TurnRequest<'_>, out: &mut Vec<Step>) -> Result<(), Refusal> {
        checks::prompt(turn.composed.prompt())?;
        READS.check(super::launch::NAME, turn.attachments)?;
        out.extend([Step::Write(turn.composed.prompt().into()), Step::CloseStdin]);
        Ok(())
    }

    fn on_line(&mut self, line: Line<'_>, out: &mut Vec<Step>) {
        if self.over || line.bytes.trim_ascii().is_empty() {
            return;
        }
        read_line(line, out, |text, out| Some(self.event(serde_json::from_str(text).ok()?, out)));
    }

    fn on_stderr(&mut self, line: Line<'_>, out: &mut Vec<Step>) {
        if self.over {
            return;
        }
        let text = String::from_utf8_lossy(line.bytes);
        if let Some(what) = failure::refused(&text) {
            let text =
                format!("OpenCode asked for leave to use {what}, and was refused: nobody is there to ask");
            out.push(Step::Emit(Event::Warning { code: "refused".into(), text }));
            self.refused = Some(what);
        } else if self.run.profile.as_deref().is_some_and(|profile| failure::fell_back(&text, profile)) {
            let words = "OpenCode does not keep the permissions it was given; the turn was stopped";
            self.end(Outcome::failed(FailureClass::Setup, words), out);
        }
    }

    fn on_exit(&mut self, exit: &Exit<'_>, out: &mut Vec<Step>) {
        if self.over {
            return;
        }
        if self.run.resumed && self.session.is_empty() && failure::is_rejection(exit.stderr) {
            self.over = true;
            let words = failure::last_words(exit.stderr).unwrap_or_default().to_owned();
            out.push(Step::Rejected(words));
            return;
        }
        let outcome = self.outcome(exit, out);
        self.end(outcome, out);
    }

    fn interrupt(&mut self, _out: &mut Vec<Step>) {
        self.interrupted = true;
    }
}
