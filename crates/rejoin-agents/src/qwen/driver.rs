//! What Qwen's lines mean, besides those of the [family](crate::stream_json).

use std::path::PathBuf;

use rejoin_core::{Event, FailureClass, Outcome, Usage};

use super::{NAME, failure, prompt};
use crate::attached::Reads;
use crate::driver::ended_saying;
use crate::failures::Failures;
use crate::one_shot::Lines;
use crate::stream_json::{Conversation, Limit, Texts, Tokens, Wire, begun};
use crate::turn_state::{Phase, Turn};
use crate::words::{Names, before_it_began, lists};
use crate::{Exit, Refusal, TurnRequest, turn};

/// What it puts of a file into a prompt (0.15.10).
const READS: Reads = Reads { bytes: 24_000, lines: 999, width: 24_000 };

/// Lines that are known and say nothing about the turn.
const QUIET_LINES: Names = "control_request control_response control_cancel_request";

#[derive(Default)]
pub(super) struct QwenLines {
    /// Where it works: a name in a prompt may be that of a file there.
    dir: PathBuf,
    /// It looks for files in other directories, too.
    elsewhere: bool,
    /// What it may do is limited.
    limit: Limit,
    conversation: Conversation,
    posing: Posing,
    /// The last failure of a subagent: no end of the turn, but perhaps the last word about it.
    inner_failure: Option<String>,
}

/// A failure of the model's service that poses as the text of an answer.
#[derive(Default)]
struct Posing {
    /// The last piece looks like one and is held back.
    held: Option<String>,
    /// The one at the end of the last message.
    failure: Option<String>,
}

impl Texts for Posing {
    const NAMES_FIRST: bool = false;
    const STORED_WITH_PROMPT: bool = true;

    fn piece(&mut self, text: String, turn: &mut Turn) {
        turn.current();
        let text = match self.held.take() {
            Some(held) => held + &text,
            None if failure::begins_like_one(&text) => {
                self.held = Some(text);
                return;
            }
            None => text,
        };
        turn.stream_text(text);
    }

    fn block(&mut self, mut text: String, model: Option<String>, counted: bool, turn: &mut Turn) {
        // Where text was streamed, a failure is a piece of its own.
        self.failure = match self.held.take() {
            Some(held) if !counted && text.ends_with(&held) => Some(held),
            None if !counted && !turn.current().is_streamed() => {
                failure::at_the_end(&text).map(str::to_owned)
            }
            _ => None,
        };
        if let Some(failure) = &self.failure {
            text.truncate(text.len() - failure.len());
        }
        turn.finish_text(text, model);
    }
}

impl QwenLines {
    pub(super) fn new(dir: PathBuf, elsewhere: bool, limit: Limit) -> Self {
        Self { dir, elsewhere, limit, ..Self::default() }
    }

    fn system(&mut self, wire: &Wire<'_>, turn: &mut Turn) -> bool {
        let data = wire.data.0.as_ref();
        match wire.subtype.as_str() {
            "init" => begun(wire, Self::TITLE, self.limit, turn),
            "retry" => {
                if !data.is_some_and(|data| data.preserve_text.is_set()) {
                    self.posing.held = None;
                    turn.withdraw();
                }
                let reason = data.and_then(|data| data.reason.filled()).unwrap_or("retry");
                let attempt = data.map_or(0, |data| data.attempt.count());
                let most = data.map_or(0, |data| data.max_retries.count());
                let counted =
                    if attempt > 0 { format!("; attempt {attempt} of {most}") } else { String::new() };
                let text = format!("the model's service failed ({reason}){counted}");
                turn.warn("retry", text);
            }
            subtype if subtype.contains("compress") || subtype.contains("compact") => {
                let text = data.and_then(|data| data.notice.filled()).unwrap_or_default().to_owned();
                turn.emit(Event::Compaction { text });
            }
            subtype => {
                if let Some(notice) = data.and_then(|data| data.notice.filled()) {
                    turn.warn(subtype, notice);
                    return true;
                }
                return subtype.starts_with("task_") || subtype.starts_with("session_");
            }
        }
        true
    }

    /// The line that ends a turn, unless it is the end of a subagent.
    fn result(&mut self, wire: &Wire<'_>, turn: &mut Turn) {
        let failed = wire.is_error.0.unwrap_or(wire.subtype.as_str() != "success");
        let told = wire.error_message().or_else(|| wire.result.filled()).unwrap_or_default();
        let silent = turn.phase == Phase::Silent;
        let inner = failed && !silent && wire.duration_ms.count() == 0;
        if inner && !self.conversation.open.is_empty() {
            self.inner_failure = Some(told.to_owned());
            return turn.warn("subagent", format!("a subagent failed: {told}"));
        }
        // A failure names no session, and what never began has an id of nothing.
        if failed {
            turn.stored();
        } else if !silent {
            wire.note(turn);
        }
        let unsaid = wire.result.filled().filter(|_| !failed && !turn.said);
        let posing = self.posing.failure.take();
        let posing = posing.or_else(|| failure::at_the_end(unsaid?).map(str::to_owned));
        if let Some(text) = unsaid.filter(|_| posing.is_none()) {
            turn.finish_text(text.to_owned(), None);
        }
        // A turn that failed before it counted anything says zero, whatever went before.
        let total = wire.usage.0.as_ref().map(counted).filter(|total| !total.is_zero());
        if let Some(total) = total {
            turn.total(total);
        }
        turn.end(if turn.interrupted && (failed || posing.is_some()) {
            Outcome::Cancelled
        } else if failed {
            let words = if told.is_empty() { wire.subtype.as_str() } else { told };
            let otherwise = if silent { FailureClass::Launch } else { FailureClass::Other };
            Self::FAILURES.outcome(words, otherwise)
        } else if let Some(words) = posing {
            Self::FAILURES.outcome(&words, FailureClass::Other)
        } else {
            Outcome::Completed
        });
    }
}

fn counted(tokens: &Tokens) -> Usage {
    let Tokens { input, read_from_cache, output, total, .. } = tokens;
    super::counted(input.count(), read_from_cache.count(), output.count(), total.count())
}

impl Lines for QwenLines {
    type Wire<'a> = Wire<'a>;
    const TITLE: &'static str = "Qwen";
    const FAILURES: Failures = failure::FAILURES;

    fn begin(&mut self, request: &TurnRequest<'_>, turn: &mut Turn) -> Result<(), Refusal> {
        READS.check(NAME, request.attachments)?;
        let attached = request.mentions(NAME)?;
        // Other directories may hold what an @ names.
        let elsewhere = self.elsewhere || !attached.is_empty();
        let exists = |name: &str| elsewhere || self.dir.join(name).exists();
        let (mut text, escaped) = prompt::plain(request.composed.prompt(), exists);
        if text.len() > prompt::LONGEST {
            let text =
                "the prompt is longer than 8 MiB, of which qwen would read only the beginning; shorten it";
            return Err(Refusal::Unsupported(text.into()));
        }
        if escaped {
            turn.push(turn::warning(
                "qwen would put files into the prompt or move spaces where it holds an @: each was sent as \\@",
            ));
        }
        if !attached.is_empty() {
            text.to_mut().push_str(&attached);
        }
        turn.write(text.into_owned());
        Ok(())
    }

    fn line(&mut self, wire: Wire<'_>, turn: &mut Turn) -> bool {
        match wire.kind.as_str() {
            "system" => return self.system(&wire, turn),
            "result" => self.result(&wire, turn),
            "assistant" if wire.parent_tool_use_id.filled().is_none() => {
                self.posing.failure = None;
                self.conversation.line(wire, &mut self.posing, turn);
                self.posing.held = None;
            }
            kind if lists(QUIET_LINES, kind) => {}
            _ => return self.conversation.line(wire, &mut self.posing, turn),
        }
        true
    }

    fn unsaid(&mut self, exit: &Exit<'_>, turn: &Turn) -> Outcome {
        if let Some(words) = self.inner_failure.take().or_else(|| self.posing.failure.take()) {
            return Self::FAILURES.outcome(&words, FailureClass::NoResult);
        }
        let failed = exit.code.is_some_and(|code| code != 0);
        let words = Self::FAILURES.last_words(exit.stderr);
        let otherwise = if failed && turn.phase == Phase::Silent {
            words.map_or(FailureClass::Launch, before_it_began)
        } else {
            FailureClass::NoResult
        };
        let told = words.filter(|_| failed);
        let class = told.map_or(otherwise, |words| Self::FAILURES.classify(words, otherwise));
        Outcome::failed(class, ended_saying(Self::TITLE, exit, words))
    }
}
