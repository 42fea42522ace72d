//! What Gemini's lines mean.

use std::path::PathBuf;

use rejoin_core::{FailureClass, Outcome};

use super::limits::Limit;
use super::mentions::Known;
use super::wire::Wire;
use super::{NAME, failure, prompt};
use crate::attached::Reads;
use crate::driver::ended_saying;
use crate::failures::Failures;
use crate::one_shot::Lines;
use crate::session_id::is_lower_case_uuid;
use crate::turn_state::{Phase, Turn};
use crate::{Exit, Refusal, TurnRequest, turn};

/// Gemini cuts off what goes beyond (0.61.0).
const LONGEST_PROMPT: usize = 8 << 20;
/// What it puts of a file into a prompt (0.61.0).
const READS: Reads = Reads { bytes: 8 << 20, lines: 1999, width: 2000 };

/// A prompt that does not fit is not sent, and Gemini calls that a success (0.61.0).
const NOT_ASKED: &str = "Gemini ended the turn without asking its model: the prompt and what was said before are too \
                         long for it, or a hook stopped the turn";
/// A hook that stops the turn is not told of, and a success, too.
const STOPPED: &str =
    "Gemini ended the turn without asking its model: a hook in its settings stopped the turn";
/// Beyond this many bytes a prompt and what was said before may be too long: a quarter of what its models read.
const LONG: u64 = 1 << 20;

/// How the run was launched, and what is known of its turn.
#[derive(Default)]
pub(super) struct GeminiLines {
    /// Where it works, and where it keeps its things: a name in a prompt may mean something there.
    pub(super) dir: PathBuf,
    pub(super) store: Option<PathBuf>,
    /// What it may do is limited by a policy of ours.
    pub(super) limit: Limit,
    /// The size of the prompt.
    bytes: u64,
    /// What goes along with the prompt, and what its session holds already, in bytes.
    along: u64,
    /// It said or did something.
    active: bool,
    /// A hook did not let the prompt pass, in Gemini's words.
    blocked: Option<String>,
    /// The last thing it called an error, which its result does not repeat.
    error: Option<String>,
    /// Why the last attempt failed that was to be repeated.
    retried: Option<(FailureClass, String)>,
}

impl GeminiLines {
    pub(super) fn new(dir: PathBuf, store: Option<PathBuf>, limit: Limit) -> Self {
        Self { dir, store, limit, ..Self::default() }
    }

    /// The one line that ends a turn.
    fn result(&mut self, wire: Wire<'_>, turn: &mut Turn) -> Outcome {
        let usage = wire.stats.0.map(|stats| stats.usage()).filter(|usage| !usage.is_zero());
        let asked = usage.is_some();
        if let Some(usage) = usage {
            turn.count(usage, 0.0);
        }
        // Some failures are told by an `error` line alone, and one of them ends in "success".
        let earlier = self.error.take().unwrap_or_default();
        if wire.status.as_str() == "success" && !failure::is_step_limit(&earlier) {
            if !self.active && !asked {
                return self.not_asked();
            }
            turn.stored();
            if !self.active {
                turn.warn("empty", "Gemini ended the turn without a word");
            }
            return Outcome::Completed;
        }
        if turn.interrupted {
            return Outcome::Cancelled;
        }
        let error = wire.error.0.unwrap_or_default();
        let words = [error.message.as_str(), &earlier].into_iter().find(|words| !words.is_empty());
        let (class, text) =
            failure::told(error.kind.as_str(), words.unwrap_or("Gemini did not say why it failed"));
        Outcome::failed(class, text)
    }

    /// Why the model was not asked. A hook is no fault of the session.
    fn not_asked(&mut self) -> Outcome {
        match self.blocked.take() {
            Some(words) => Outcome::failed(FailureClass::Setup, words),
            None if self.along.saturating_add(self.bytes) > LONG => {
                Outcome::failed(FailureClass::ContextOverflow, NOT_ASKED)
            }
            None => Outcome::failed(FailureClass::Setup, STOPPED),
        }
    }
}

/// How many bytes the model would be asked with besides the prompt; very many if that is not known.
fn along(request: &TurnRequest<'_>) -> u64 {
    let held = request.composed.pin().map_or(0, |pin| {
        pin.witness.as_ref().or(pin.at_least.as_ref()).map_or(u64::MAX, |witness| witness.size)
    });
    request.attachments.iter().fold(held, |sum, attached| sum.saturating_add(attached.about.size))
}

impl Lines for GeminiLines {
    type Wire<'a> = Wire<'a>;
    const TITLE: &'static str = "Gemini";
    const FAILURES: Failures = failure::FAILURES;

    fn begin(&mut self, request: &TurnRequest<'_>, turn: &mut Turn) -> Result<(), Refusal> {
        let text = request.composed.prompt();
        READS.check(NAME, request.attachments)?;
        let attached = request.mentions(NAME)?;
        // With a directory more to look in, any name may act.
        let sure = attached.is_empty() && !prompt::mentions(text).is_empty();
        let known = sure.then(|| Known::around(&self.dir, self.store.as_deref()));
        let mut guarded = prompt::guarded(text, |name| known.as_ref().is_none_or(|known| known.acts(name)));
        if guarded.len() > LONGEST_PROMPT {
            let text = "the prompt is longer than 8 MiB, and gemini cuts off the rest; put the long part into a file of \
                        the project and name it";
            return Err(Refusal::Unsupported(text.into()));
        }
        if guarded != text {
            turn.push(turn::warning(
                "Gemini would act on a sign in the prompt, so it was marked as text: a leading / or ? by an invisible \
                 character, an @ before a name by a backslash",
            ));
        }
        if !attached.is_empty() {
            guarded.to_mut().push_str(&attached);
        }
        self.bytes = guarded.len() as u64;
        self.along = along(request);
        turn.write(guarded.into_owned());
        Ok(())
    }

    fn line(&mut self, wire: Wire<'_>, turn: &mut Turn) -> bool {
        match wire.kind.as_str() {
            "init" => {
                if !is_lower_case_uuid(wire.session_id.as_str()) {
                    return false;
                }
                turn.name(wire.session_id.as_str(), wire.model.into_filled(), None);
                // It has read the session it resumes. A new one may still be taken back: a first turn that
                // fails leaves nothing behind, although its id stood here (0.61).
                if turn.resumed {
                    turn.stored();
                }
            }
            "message" => match wire.role.as_str() {
                "assistant" => {
                    self.active |= wire.content.filled().is_some();
                    turn.stream_text(wire.content.into_string());
                }
                // The prompt, back again.
                "user" => {}
                _ => return false,
            },
            "tool_use" => {
                // The first answer is on disk now: nothing takes it back.
                turn.stored();
                self.active = true;
                turn.call(wire.tool_id.into_string(), wire.tool_name.into_string(), wire.parameters);
            }
            "tool_result" => {
                turn.close();
                let words = wire.error.0.map(|error| error.message.into_string()).unwrap_or_default();
                let output = wire.output.into_filled().unwrap_or(words);
                turn.result(wire.tool_id.into_string(), output, wire.status.as_str() == "error");
            }
            "error" => {
                let text = wire.message.into_string();
                if wire.severity.as_str() == "error" {
                    self.error = Some(text.clone());
                } else if failure::is_blocked_by_a_hook(&text) {
                    self.blocked = Some(text.clone());
                }
                turn.warn(NAME, text);
            }
            "result" => {
                let outcome = self.result(wire, turn);
                turn.end(outcome);
            }
            _ => return false,
        }
        true
    }

    fn error_line(&mut self, text: &str, turn: &mut Turn) {
        if self.limit.is_broken_by(text) {
            let text = format!(
                "Gemini does not keep to the level asked for with --permissions, so it was stopped before it began: {}",
                text.trim()
            );
            turn.end(Outcome::failed(FailureClass::Setup, text));
        } else if let Some((class, words)) = failure::retry(text) {
            turn.warn("retry", words.clone());
            self.retried = Some((class, words));
        }
    }

    fn rejection<'a>(&self, exit: &Exit<'a>) -> Option<&'a str> {
        failure::rejection(exit.stderr)
    }

    fn unsaid(&mut self, exit: &Exit<'_>, turn: &Turn) -> Outcome {
        let silent = turn.phase == Phase::Silent;
        if let Some((class, text)) = failure::refused(exit).filter(|_| silent) {
            return Outcome::failed(class, text);
        }
        // A long prompt comes back on its output, and it does not wait until all of that is read.
        if exit.code == Some(0) && self.bytes > LONG && !self.active && self.retried.is_none() {
            return Outcome::failed(FailureClass::ContextOverflow, NOT_ASKED);
        }
        // Stopped while it tried again and again: the world is to blame, not the session.
        let (class, retried) = match self.retried.take() {
            Some((class, words)) => (class, Some(words)),
            None if silent => (FailureClass::Launch, None),
            None => (FailureClass::NoResult, None),
        };
        let words = retried.as_deref().or_else(|| Self::FAILURES.last_words(exit.stderr));
        Outcome::failed(class, ended_saying(Self::TITLE, exit, words))
    }
}
