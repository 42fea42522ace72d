//! What Gemini's lines mean.

use std::path::PathBuf;

use rejoin_core::{Agent, Event, FailureClass, MessageId, Outcome};

use super::limits::Limit;
use super::mentions::Known;
use super::wire::Wire;
use super::{NAME, failure, prompt};
use crate::attached::Reads;
use crate::driver::{ended_saying, read_line};
use crate::session_id::is_lower_case_uuid;
use crate::{Driver, Exit, IdSource, Line, Refusal, Step, TurnRequest, checks, turn};

/// Gemini cuts off what goes beyond.
const LONGEST_PROMPT: usize = 8 << 20;
/// What it puts of a file into a prompt.
const READS: Reads = Reads { bytes: 8 << 20, lines: 1999, width: 2000 };

/// A prompt that does not fit is not sent, and Gemini calls that a success.
const NOT_ASKED: &str = "Gemini ended the turn without asking its model: the prompt and what was said before are too \
                         long for it, or a hook stopped the turn";
/// A hook that stops the turn is not told of, and a success, too.
const STOPPED: &str =
    "Gemini ended the turn without asking its model: a hook in its settings stopped the turn";
/// Beyond this many bytes a prompt and what was said before may be too long: a quarter of what its models read.
const LONG: u64 = 1 << 20;

/// How the run was launched.
pub(super) struct Run {
    /// Where it works, and where it keeps its things: a name in a prompt may mean something there.
    pub(super) dir: PathBuf,
    pub(super) store: Option<PathBuf>,
    /// It was asked to resume a session.
    pub(super) resumed: bool,
    /// What goes along with the prompt, and what its session holds already, in bytes.
    pub(super) along: u64,
    /// It stores its session.
    pub(super) stores: bool,
    /// What it may do is limited by a policy of ours.
    pub(super) limit: Limit,
}

/// How far the turn has come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Silent,
    Named,
    Stored,
    Over,
}

pub(super) struct GeminiDriver {
    run: Run,
    ids: IdSource,
    phase: Phase,
    /// The size of the prompt.
    bytes: u64,
    /// The message that is being written.
    current: Option<Current>,
    /// It said or did something.
    active: bool,
    /// A hook did not let the prompt pass, in Gemini's words.
    blocked: Option<String>,
    /// The last thing it called an error, which its result does not repeat.
    error: Option<String>,
    /// Why the last attempt failed that was to be repeated.
    retried: Option<(FailureClass, String)>,
    interrupted: bool,
}

struct Current {
    id: MessageId,
    streamed: usize,
}

impl GeminiDriver {
    pub(super) fn new(run: Run, ids: IdSource) -> Self {
        Self {
            bytes: 0,
            run,
            ids,
            phase: Phase::Silent,
            current: None,
            active: false,
            blocked: None,
            error: None,
            retried: None,
            interrupted: false,
        }
    }

    fn current(&mut self) -> &mut Current {
        let ids = &mut self.ids;
        self.current.get_or_insert_with(|| Current { id: ids(), streamed: 0 })
    }

    /// Says whether the line was understood.
    fn event(&mut self, wire: Wire<'_>, out: &mut Vec<Step>) -> bool {
        match wire.kind.as_str() {
            "init" => return self.init(wire, out),
            "message" => match wire.role.as_str() {
                "assistant" => self.text(wire.content.into_string(), out),
                // The prompt, back again.
                "user" => {}
                _ => return false,
            },
            "tool_use" => {
                // The first answer is on disk now: nothing takes it back.
                self.stored(out);
                self.active = true;
                let message = self.current().id;
                out.push(Step::Emit(Event::ToolUse {
                    message,
                    id: wire.tool_id.into_string(),
                    name: wire.tool_name.into_string(),
                    input: wire.parameters,
                    parent: None,
                }));
            }
            "tool_result" => {
                self.current = None;
                let words = wire.error.0.map(|error| error.message.into_string()).unwrap_or_default();
                let output = wire.output.into_filled().unwrap_or(words);
                let error = wire.status.as_str() == "error";
                let (message, id) = ((self.ids)(), wire.tool_id.into_string());
                out.push(Step::Emit(Event::ToolResult { message, id, output, error, parent: None }));
            }
            "error" => {
                let text = wire.message.into_string();
                if wire.severity.as_str() == "error" {
                    self.error = Some(text.clone());
                } else if failure::is_blocked_by_a_hook(&text) {
                    self.blocked = Some(text.clone());
                }
                out.push(Step::Emit(Event::Warning { code: NAME.into(), text }));
            }
            "result" => self.result(wire, out),
            _ => return false,
        }
        true
    }

    fn init(&mut self, wire: Wire<'_>, out: &mut Vec<Step>) -> bool {
        if !is_lower_case_uuid(wire.session_id.as_str()) {
            return false;
        }
        if self.phase == Phase::Silent {
            self.phase = Phase::Named;
        }
        out.push(Step::Emit(Event::Session {
            agent: Agent::named(NAME),
            session: wire.session_id.into_string(),
            model: wire.model.into_filled(),
            agent_version: None,
        }));
        // It has read the session it resumes. A new one may still be taken back: a first turn that
        // fails leaves nothing behind, although its id stood here.
        if self.run.resumed {
            self.stored(out);
        }
        true
    }

    fn stored(&mut self, out: &mut Vec<Step>) {
        if self.phase == Phase::Named {
            self.phase = Phase::Stored;
            if self.run.stores {
                out.push(Step::Stored);
            }
        }
    }

    fn text(&mut self, text: String, out: &mut Vec<Step>) {
        if text.is_empty() {
            return;
        }
        self.active = true;
        let current = self.current();
        let (message, offset) = (current.id, current.streamed);
        current.streamed += text.len();
        out.push(Step::Emit(Event::TextDelta { message, offset, text }));
    }

    /// The one line that ends a turn.
    fn result(&mut self, wire: Wire<'_>, out: &mut Vec<Step>) {
        let usage = wire.stats.0.map(|stats| stats.usage()).filter(|usage| !usage.is_zero());
        let asked = usage.is_some();
        out.extend(usage.map(|usage| Step::Emit(Event::Usage { usage, cost: None })));
        let (kind, words) = wire
            .error
            .0
            .map(|error| (error.kind.into_string(), error.message.into_string()))
            .unwrap_or_default();
        // Some failures are told by an `error` line alone, and one of them ends in "success".
        let earlier = self.error.take().unwrap_or_default();
        let limited = failure::is_step_limit(&earlier);
        if wire.status.as_str() == "success" && !limited {
            if !self.active && !asked {
                let outcome = self.not_asked();
                return self.end(outcome, out);
            }
            self.stored(out);
            if !self.active {
                let text = "Gemini ended the turn without a word".to_owned();
                out.push(Step::Emit(Event::Warning { code: "empty".into(), text }));
            }
            return self.end(Outcome::Completed, out);
        }
        if self.interrupted {
            return self.end(Outcome::Cancelled, out);
        }
        let words = [words, earlier].into_iter().find(|words| !words.is_empty());
        let (class, text) =
            failure::told(&kind, words.as_deref().unwrap_or("Gemini did not say why it failed"));
        self.end(Outcome::failed(class, text), out);
    }

    /// Why the model was not asked. A hook is no fault of the session.
    fn not_asked(&mut self) -> Outcome {
        match self.blocked.take() {
            Some(words) => Outcome::failed(FailureClass::Setup, words),
            None if self.run.along.saturating_add(self.bytes) > LONG => {
                Outcome::failed(FailureClass::ContextOverflow, NOT_ASKED)
            }
            None => Outcome::failed(FailureClass::Setup, STOPPED),
        }
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
        if self.phase == Phase::Silent
            && let Some((class, text)) = failure::refused(exit)
        {
            return Outcome::failed(class, text);
        }
        // A long prompt comes back on its output, and it does not wait until all of that is read.
        if exit.code == Some(0) && self.bytes > LONG && !self.active && self.retried.is_none() {
            return Outcome::failed(FailureClass::ContextOverflow, NOT_ASKED);
        }
        // Stopped while it tried again and again: the world is to blame, not the session.
        let (class, retried) = match self.retried.take() {
            Some((class, words)) => (class, Some(words)),
            None if self.phase == Phase::Silent => (FailureClass::Launch, None),
            None => (FailureClass::NoResult, None),
        };
        let words = retried.as_deref().or_else(|| failure::last_words(exit.stderr));
        Outcome::failed(class, ended_saying("Gemini", exit, words))
    }
}

impl Driver for GeminiDriver {
    fn begin_turn(&mut self, turn: &TurnRequest<'_>, out: &mut Vec<Step>) -> Result<(), Refusal> {
        let text = turn.composed.prompt();
        checks::prompt(text)?;
        READS.check(NAME, turn.attachments)?;
        let attached = turn.mentions(NAME)?;
        // With a directory more to look in, any name may act.
        let sure = attached.is_empty() && !prompt::mentions(text).is_empty();
        let known = sure.then(|| Known::around(&self.run.dir, self.run.store.as_deref()));
        let mut guarded = prompt::guarded(text, |name| known.as_ref().is_none_or(|known| known.acts(name)));
        if guarded.len() > LONGEST_PROMPT {
            let text = "the prompt is longer than 8 MiB, and gemini cuts off the rest; put the long part into a file of \
                        the project and name it";
            return Err(Refusal::Unsupported(text.into()));
        }
        if guarded != text {
            out.push(turn::warning(
                "Gemini would act on a sign in the prompt, so it was marked as text: a leading / or ? by an invisible \
                 character, an @ before a name by a backslash",
            ));
        }
        if !attached.is_empty() {
            guarded.to_mut().push_str(&attached);
        }
        self.bytes = guarded.len() as u64;
        out.extend([Step::Write(guarded.into_owned().into()), Step::CloseStdin]);
        Ok(())
    }

    fn on_line(&mut self, line: Line<'_>, out: &mut Vec<Step>) {
        if self.phase == Phase::Over || line.bytes.trim_ascii().is_empty() {
            return;
        }
        read_line(line, out, |text, out| Some(self.event(serde_json::from_str(text).ok()?, out)));
    }

    fn on_stderr(&mut self, line: Line<'_>, out: &mut Vec<Step>) {
        if self.phase == Phase::Over {
            return;
        }
        let text = String::from_utf8_lossy(line.bytes);
        if self.run.limit.is_broken_by(&text) {
            let text = format!(
                "Gemini does not keep to the level asked for with --permissions, so it was stopped before it began: {}",
                text.trim()
            );
            return self.end(Outcome::failed(FailureClass::Setup, text), out);
        }
        if let Some((class, words)) = failure::retry(&text) {
            out.push(Step::Emit(Event::Warning { code: "retry".into(), text: words.clone() }));
            self.retried = Some((class, words));
        }
    }

    fn on_exit(&mut self, exit: &Exit<'_>, out: &mut Vec<Step>) {
        if self.phase == Phase::Over {
            return;
        }
        let rejection = failure::rejection(exit.stderr).filter(|_| self.run.resumed);
        if let (Phase::Silent, Some(words)) = (self.phase, rejection) {
            self.phase = Phase::Over;
            out.push(Step::Rejected(words.to_owned()));
            return;
        }
        let outcome = self.unsaid(exit);
        self.end(outcome, out);
    }

    fn interrupt(&mut self, _out: &mut Vec<Step>) {
        self.interrupted = true;
    }
}
