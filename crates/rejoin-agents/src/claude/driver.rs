//! What Claude's lines mean, besides those of the [family](crate::stream_json).

use rejoin_core::{Event, FailureClass, Outcome};

use super::questions::Questions;
use super::{failure, prompt};
use crate::driver::ended_saying;
use crate::failures::{Failures, last_line, says};
use crate::loose::TextOr;
use crate::one_shot::Lines;
use crate::stream_json::{Conversation, Limit, Texts, Wire, begun, interrupt_request};
use crate::turn_state::{Phase, Turn};
use crate::words::{Names, lists};
use crate::{Answer, Exit, Refusal, Step, TurnRequest, turn};

/// Lines that are known and say nothing about the turn.
const QUIET_LINES: Names = "control_response keep_alive rate_limit_event tool_progress tool_use_summary \
                            auth_status prompt_suggestion audit_event";
const QUIET_SYSTEM: Names = "status thinking_tokens informational notification session_state_changed \
                             permission_denied plugin_install memory_saved memory_recall file_snapshot \
                             local_command stop_hook_summary turn_starting turn_duration post_turn_summary \
                             elicitation_complete";
pub(super) struct ClaudeLines {
    /// Its input stays open: it can be asked to stop, and can ask.
    chat: bool,
    /// What it may do is limited: by a list of tools, or by its mode alone.
    limit: Limit,
    conversation: Conversation,
    questions: Questions,
}

/// Claude's texts are what they seem.
struct Plain;

impl Texts for Plain {
    const NAMES_FIRST: bool = true;
    const STORED_WITH_PROMPT: bool = false;
}

impl ClaudeLines {
    pub(super) fn new(chat: bool, limit: Limit) -> Self {
        Self { chat, limit, conversation: Conversation::default(), questions: Questions::default() }
    }

    fn system(&mut self, wire: &Wire<'_>, turn: &mut Turn) -> bool {
        match wire.subtype.as_str() {
            "init" => begun(wire, Self::TITLE, self.limit, turn),
            "compact_boundary" => {
                let text = wire.compact_metadata.0.as_ref().map_or_else(String::new, |compacted| {
                    let (before, after) = (compacted.pre_tokens.count(), compacted.post_tokens.count());
                    let trigger = compacted.trigger.filled().unwrap_or("auto");
                    let after = if after > 0 { format!(", {after} after") } else { String::new() };
                    format!("{trigger}: {before} tokens before{after}")
                });
                turn.emit(Event::Compaction { text });
            }
            "api_retry" => {
                let error = match &wire.error {
                    TextOr::Text(error) if !error.is_empty() => error,
                    _ => "error",
                };
                let status = wire.error_status.0.map(|status| format!(" {status}")).unwrap_or_default();
                let (attempt, most) = (wire.attempt.count(), wire.max_retries.count());
                let text =
                    format!("the model's service failed ({error}{status}); attempt {attempt} of {most}");
                turn.warn("retry", text);
            }
            subtype if subtype.starts_with("model_") => {
                turn.warn(subtype, wire.content.filled().unwrap_or("Claude changed the model"));
            }
            subtype => {
                let quiet = subtype.starts_with("task_") || subtype.starts_with("hook_");
                return quiet || lists(QUIET_SYSTEM, subtype);
            }
        }
        true
    }

    /// The one line that ends a turn.
    fn result(wire: &Wire<'_>, turn: &mut Turn) {
        let failed = wire.is_error.0.unwrap_or(wire.subtype.as_str() != "success");
        let nothing_ran = failed && wire.num_turns.0 == Some(0.0);
        let words = if failed { wire.words() } else { String::new() };
        if nothing_ran && turn.may_be_rejected() && says(&words, Self::FAILURES.rejections) {
            return turn.reject(&words);
        }
        // A failure names no session: it may carry an id of nothing.
        if !failed {
            wire.note(turn);
        } else if !nothing_ran {
            turn.stored();
        }
        if let Some(text) = wire.result.filled().filter(|_| !failed && !turn.said) {
            turn.begin("");
            turn.finish_text(text.to_owned(), None);
        }
        let (usage, cost) = (wire.usage(), wire.total_cost_usd.0.unwrap_or_default());
        if !usage.is_zero() || cost > 0.0 {
            turn.count(usage, cost);
        }
        let aborted = wire.terminal_reason.as_str().starts_with("aborted");
        let stopped = aborted || wire.subtype.as_str() == "error_during_execution";
        turn.end(if !failed {
            Outcome::Completed
        } else if stopped && turn.interrupted {
            Outcome::Cancelled
        } else if aborted {
            Outcome::failed(FailureClass::Other, "Claude was interrupted by somebody else")
        } else {
            let status = wire.api_error_status.0.map(|status| status as u16);
            let class = Self::FAILURES.class(wire.subtype.as_str(), status, &words);
            let words = if words.is_empty() { wire.subtype.as_str().to_owned() } else { words };
            Outcome::failed(class.unwrap_or(FailureClass::Other), words)
        });
    }
}

impl Lines for ClaudeLines {
    type Wire<'a> = Wire<'a>;
    const TITLE: &'static str = "Claude";
    const FAILURES: Failures = failure::FAILURES;

    fn begin(&mut self, request: &TurnRequest<'_>, turn: &mut Turn) -> Result<(), Refusal> {
        let prompt = request.composed.prompt();
        if self.chat {
            turn.open = true;
            turn.push(Step::Write(prompt::message(prompt, request.attachments)));
        } else {
            let (text, warning) = prompt::alone(prompt)?;
            turn.steps.extend(warning.map(turn::warning));
            turn.write(text);
        }
        Ok(())
    }

    fn line(&mut self, wire: Wire<'_>, turn: &mut Turn) -> bool {
        match wire.kind.as_str() {
            "system" => return self.system(&wire, turn),
            "result" => Self::result(&wire, turn),
            "control_request" => {
                let id = wire.request_id.into_string();
                self.questions.ask(&id, wire.request.0.unwrap_or_default(), &mut turn.steps);
            }
            "control_cancel_request" => {
                self.questions.withdraw(wire.request_id.as_str(), &mut turn.steps);
            }
            kind if lists(QUIET_LINES, kind) || kind.starts_with("streamlined_") => {}
            _ => return self.conversation.line(wire, &mut Plain, turn),
        }
        true
    }

    fn rejection<'a>(&self, exit: &Exit<'a>) -> Option<&'a str> {
        says(exit.stderr, Self::FAILURES.rejections).then(|| exit.stderr.trim())
    }

    fn unsaid(&mut self, exit: &Exit<'_>, turn: &Turn) -> Outcome {
        let refused = turn.phase == Phase::Silent && exit.code.is_some_and(|code| code != 0);
        let class = if refused { failure::before(exit.stderr) } else { FailureClass::NoResult };
        Outcome::failed(class, ended_saying(Self::TITLE, exit, last_line(exit.stderr)))
    }

    fn answer(&mut self, question: &str, answer: Answer, turn: &mut Turn) {
        self.questions.answer(question, answer, &mut turn.steps);
    }

    fn interrupt(&mut self, turn: &mut Turn) {
        // Before its first line Claude would take note of it and then begin all the same (2.1.197).
        if turn.open && turn.phase > Phase::Silent {
            turn.push(interrupt_request());
        }
    }
}
