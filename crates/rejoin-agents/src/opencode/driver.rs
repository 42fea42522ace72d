//! What OpenCode's lines mean.
//!
//! It (1.18.33) prints whole blocks, only finished calls, and nothing of subagents but their results. The end
//! of a turn has no line of its own: a step that stopped is followed by the end of the process, or,
//! if the memory was full, by a summary and more steps. So the process's end is the turn's.

use rejoin_core::{Event, FailureClass, MessageId, Outcome};

use super::failure::{self, FAILURES, Failure};
use super::id::is_session;
use super::wire::{Part, Wire};
use crate::attached::Reads;
use crate::failures::Failures;
use crate::one_shot::{Lines, ended_without_a_word};
use crate::turn_state::{Phase, Turn};
use crate::{Exit, Refusal, TurnRequest};

/// What its reading tool shows of a file, which is how it reads attached ones (1.18.33).
const READS: Reads = Reads { bytes: 48_000, lines: 2000, width: 2000 };

#[derive(Default)]
pub(super) struct OpenCodeLines {
    /// The model that was named.
    pub(super) model: Option<String>,
    /// The agent it must run as: falling back to another one would drop the limits.
    pub(super) profile: Option<String>,
    /// What the last step said in text: a summary, if it turns out that the memory was shortened.
    last_text: Option<(MessageId, String)>,
    /// Why the last finished step ended.
    finish: String,
    error: Option<Failure>,
    /// Something OpenCode would have had to ask for.
    refused: Option<String>,
}

impl OpenCodeLines {
    pub(super) fn new(model: Option<String>, profile: Option<String>) -> Self {
        Self { model, profile, ..Self::default() }
    }

    fn text(&mut self, part: Part<'_>, turn: &mut Turn) {
        if part.synthetic.is_set() {
            if part.goes_on_after_compaction() {
                self.compacted(turn);
            }
            return;
        }
        let message = turn.current_of(part.message.as_str()).id;
        let text = part.text.into_string();
        match &mut self.last_text {
            Some((same, all)) if *same == message => all.push_str(&text),
            _ => self.last_text = Some((message, text.clone())),
        }
        turn.finish_text(text, None);
    }

    /// The last step was no answer but the summary of what came before.
    fn compacted(&mut self, turn: &mut Turn) {
        let mut summary = String::new();
        if let Some((message, text)) = self.last_text.take() {
            summary = text;
            let text = String::new();
            turn.emit(Event::Message { message, offset: 0, text, model: None, native: None });
        }
        turn.close();
        self.finish.clear();
        // A memory that was full is what it was shortened for.
        self.error = self.error.take().filter(|error| error.class != FailureClass::ContextOverflow);
        turn.emit(Event::Compaction { text: summary });
    }

    fn call(&mut self, part: Part<'_>, turn: &mut Turn) -> bool {
        turn.current_of(part.message.as_str());
        let Some(call) = part.into_call() else { return false };
        self.last_text = None;
        turn.call(call.id.clone(), call.name, call.input);
        turn.close();
        turn.result(call.id, call.output, call.failed);
        true
    }
}

impl Lines for OpenCodeLines {
    type Wire<'a> = Wire<'a>;
    const TITLE: &'static str = "OpenCode";
    const FAILURES: Failures = FAILURES;

    fn begin(&mut self, request: &TurnRequest<'_>, turn: &mut Turn) -> Result<(), Refusal> {
        READS.check(super::launch::NAME, request.attachments)?;
        turn.write(request.composed.prompt());
        Ok(())
    }

    fn line(&mut self, wire: Wire<'_>, turn: &mut Turn) -> bool {
        let session = wire.session.as_str();
        if is_session(session) && turn.session != session {
            turn.name(session, None, None);
            // It stores the session and the prompt before it asks the model.
            turn.reach(Phase::Begun);
            turn.say_stored();
        }
        let kind = wire.kind.as_str();
        if kind == "error" {
            self.error = Some(wire.error.0.as_ref().map_or_else(Failure::unknown, failure::of));
            return true;
        }
        let Some(part) = wire.part.0 else { return false };
        match kind {
            "step_start" => {
                self.last_text = None;
                self.finish.clear();
            }
            "text" => self.text(part, turn),
            "reasoning" => {
                let message = turn.current_of(part.message.as_str()).id;
                turn.emit(Event::Thinking { message, text: part.text.into_string() });
            }
            "tool_use" => return self.call(part, turn),
            "step_finish" => {
                part.reason.as_str().clone_into(&mut self.finish);
                turn.count(part.usage().unwrap_or_default(), part.cost.0.unwrap_or_default());
            }
            _ => return false,
        }
        true
    }

    fn error_line(&mut self, text: &str, turn: &mut Turn) {
        if let Some(what) = failure::refused(text) {
            let text =
                format!("OpenCode asked for leave to use {what}, and was refused: nobody is there to ask");
            turn.warn("refused", text);
            self.refused = Some(what);
        } else if self.profile.as_deref().is_some_and(|profile| failure::fell_back(text, profile)) {
            let words = "OpenCode does not keep the permissions it was given; the turn was stopped";
            turn.end(Outcome::failed(FailureClass::Setup, words));
        }
    }

    fn rejection<'a>(&self, exit: &Exit<'a>) -> Option<&'a str> {
        failure::rejection(exit.stderr)
    }

    fn verdict(&mut self, _exit: &Exit<'_>, turn: &mut Turn) -> Option<Outcome> {
        if let Some(error) = self.error.take() {
            let stopped = turn.interrupted && error.aborted;
            return Some(if stopped { Outcome::Cancelled } else { error.outcome(self.model.as_deref()) });
        }
        if self.finish == "length" {
            turn.warn("length", "the answer was cut at the model's limit of output");
        }
        matches!(self.finish.as_str(), "stop" | "length").then_some(Outcome::Completed)
    }

    fn unsaid(&mut self, exit: &Exit<'_>, turn: &Turn) -> Outcome {
        let Some(refused) = &self.refused else { return ended_without_a_word::<Self>(exit, turn, None) };
        let words = format!(
            "OpenCode stopped because nobody could be asked for leave to use {refused}: allow it in its \
             configuration, or choose a level with --permissions"
        );
        Outcome::failed(FailureClass::Setup, words)
    }
}
