//! What Claude's lines mean.

use std::collections::HashMap;

use rejoin_core::{Agent, Event, FailureClass, Outcome};
use serde_json::json;

use super::limit::Limit;
use super::messages::Messages;
use super::questions::Questions;
use super::wire::{Message, Wire};
use super::{failure, prompt};
use crate::blocks::{Block, StreamEvent};
use crate::driver::{ended_early, json_line, read_line};
use crate::loose::TextOr;
use crate::session_id::is_lower_case_uuid;
use crate::{Answer, Driver, Exit, IdSource, Line, Refusal, Step, TurnRequest, checks, turn};

/// Lines that are known and say nothing about the turn.
const QUIET_LINES: &[&str] = &[
    "control_response",
    "keep_alive",
    "rate_limit_event",
    "tool_progress",
    "tool_use_summary",
    "auth_status",
    "prompt_suggestion",
    "audit_event",
];
const QUIET_SYSTEM: &[&str] = &[
    "status",
    "thinking_tokens",
    "informational",
    "notification",
    "session_state_changed",
    "permission_denied",
    "plugin_install",
    "memory_saved",
    "memory_recall",
    "file_snapshot",
    "local_command",
    "stop_hook_summary",
    "turn_starting",
    "turn_duration",
    "post_turn_summary",
    "elicitation_complete",
];
/// The model of messages Claude wrote itself.
const SYNTHETIC: &str = "<synthetic>";

/// How the run was launched.
pub(super) struct Run {
    /// Its input stays open: it can be asked to stop, and can ask.
    pub(super) chat: bool,
    /// It was asked to resume a session.
    pub(super) resumed: bool,
    /// It stores its session.
    pub(super) stores: bool,
    /// What it may do is limited: by a list of tools, or by its mode alone.
    pub(super) limit: Limit,
}

/// How far the turn has come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Silent,
    Begun,
    Stored,
    Over,
}

pub(super) struct ClaudeDriver {
    run: Run,
    phase: Phase,
    session: String,
    messages: Messages,
    questions: Questions,
    /// Calls inside subagents, and the call each subagent is.
    inside: HashMap<String, String>,
    interrupted: bool,
}

impl ClaudeDriver {
    pub(super) fn new(run: Run, ids: IdSource) -> Self {
        Self {
            run,
            phase: Phase::Silent,
            session: String::new(),
            messages: Messages::new(ids),
            questions: Questions::default(),
            inside: HashMap::new(),
            interrupted: false,
        }
    }

    /// Says whether the line was understood.
    fn event(&mut self, wire: Wire<'_>, out: &mut Vec<Step>) -> bool {
        match wire.kind.as_str() {
            "stream_event" => {
                self.note(&wire, out);
                if let (None, Some(event)) = (wire.parent_tool_use_id.filled(), wire.event.0) {
                    self.stream(event, out);
                }
            }
            "assistant" => {
                self.note(&wire, out);
                // An error of the service poses as a message of the model; the result tells it.
                let failed = wire.error.filled().is_some();
                if let Some(message) = wire.message.0.filter(|_| !failed) {
                    self.assistant(message, wire.parent_tool_use_id.filled(), out);
                }
            }
            "user" => {
                self.note_session(&wire, out);
                if let Some(message) = wire.message.0 {
                    self.tool_results(message, wire.parent_tool_use_id.filled(), out);
                }
            }
            "result" => self.result(&wire, out),
            "system" => return self.system(&wire, out),
            "control_request" => {
                let id = wire.request_id.into_string();
                self.questions.ask(&id, wire.request.0.unwrap_or_default(), out);
            }
            "control_cancel_request" => self.questions.withdraw(wire.request_id.as_str(), out),
            kind => return QUIET_LINES.contains(&kind) || kind.starts_with("streamlined_"),
        }
        true
    }

    fn system(&mut self, wire: &Wire<'_>, out: &mut Vec<Step>) -> bool {
        match wire.subtype.as_str() {
            "init" => self.init(wire, out),
            "compact_boundary" => {
                let text = wire.compact_metadata.0.as_ref().map_or_else(String::new, |compacted| {
                    let (before, after) = (compacted.pre_tokens.count(), compacted.post_tokens.count());
                    let trigger = compacted.trigger.filled().unwrap_or("auto");
                    let after = if after > 0 { format!(", {after} after") } else { String::new() };
                    format!("{trigger}: {before} tokens before{after}")
                });
                out.push(Step::Emit(Event::Compaction { text }));
            }
            "api_retry" => {
                let status = wire.error_status.0.map(|status| format!(" {status}")).unwrap_or_default();
                let text = format!(
                    "the model's service failed ({}{status}); attempt {} of {}",
                    wire.error.filled().unwrap_or("error"),
                    wire.attempt.count(),
                    wire.max_retries.count(),
                );
                out.push(Step::Emit(Event::Warning { code: "retry".into(), text }));
            }
            subtype if subtype.starts_with("model_") => {
                let text = wire.content.filled().unwrap_or("Claude changed the model").to_owned();
                out.push(Step::Emit(Event::Warning { code: subtype.to_owned(), text }));
            }
            subtype => {
                let quiet = subtype.starts_with("task_") || subtype.starts_with("hook_");
                return quiet || QUIET_SYSTEM.contains(&subtype);
            }
        }
        true
    }

    fn init(&mut self, wire: &Wire<'_>, out: &mut Vec<Step>) {
        if self.phase == Phase::Silent {
            self.phase = Phase::Begun;
        }
        self.note_session(wire, out);
        if let Some(excess) = self.run.limit.exceeded_by(wire) {
            let text = format!(
                "{excess}, although the turn was limited with --permissions; it was stopped before it began"
            );
            if self.run.chat {
                out.push(interrupt_request());
            }
            self.end(Outcome::failed(FailureClass::Setup, text), out);
        }
    }

    /// A line that shows that the session is stored, and which one it is.
    fn note(&mut self, wire: &Wire<'_>, out: &mut Vec<Step>) {
        self.note_session(wire, out);
        self.stored(out);
    }

    fn stored(&mut self, out: &mut Vec<Step>) {
        if self.phase == Phase::Begun {
            self.phase = Phase::Stored;
            if self.run.stores {
                out.push(Step::Stored);
            }
        }
    }

    /// Claude names its session, or moved to another one. A cut line may hold half an id: only
    /// whole ones count.
    fn note_session(&mut self, wire: &Wire<'_>, out: &mut Vec<Step>) {
        let session = wire.session_id.as_str();
        if session != self.session && is_lower_case_uuid(session) {
            session.clone_into(&mut self.session);
            out.push(Step::Emit(Event::Session {
                agent: Agent::Claude,
                session: session.to_owned(),
                model: wire.model.filled().map(str::to_owned),
                agent_version: wire.claude_code_version.filled().map(str::to_owned),
            }));
        }
    }

    fn stream(&mut self, event: StreamEvent<'_>, out: &mut Vec<Step>) {
        match event.kind.as_str() {
            "content_block_delta" => {
                let delta = event.delta.0.unwrap_or_default();
                match delta.kind.as_str() {
                    "text_delta" => self.messages.stream_text(delta.text.into_string(), out),
                    "thinking_delta" => self.messages.stream_thinking(delta.thinking.into_string(), out),
                    _ => {}
                }
            }
            "content_block_start" if event.content_block.0.is_some_and(|block| block.is_text()) => {
                self.messages.begin_text();
            }
            "message_start" => {
                let started = event.message.0.unwrap_or_default();
                self.messages.begin(started.id.as_str(), out);
            }
            _ => {}
        }
    }

    fn assistant(&mut self, message: Message<'_>, parent: Option<&str>, out: &mut Vec<Step>) {
        let id = match parent {
            None => self.messages.begin(message.id.as_str(), out),
            Some(_) => self.messages.another(),
        };
        let model = message.model.into_filled().filter(|model| model != SYNTHETIC);
        let blocks = match message.content {
            TextOr::Blocks(blocks) => blocks,
            TextOr::Text(text) if parent.is_none() => {
                return self.messages.finish_text(text.into_owned(), model, out);
            }
            TextOr::Text(_) | TextOr::Neither => return,
        };
        for Block { kind, text, thinking, id: call, name, input, .. } in blocks {
            match (kind.as_str(), parent) {
                ("tool_use" | "server_tool_use" | "mcp_tool_use", _) => {
                    let call = call.into_string();
                    if let Some(parent) = parent {
                        self.inside.insert(call.clone(), parent.to_owned());
                    }
                    out.push(Step::Emit(Event::ToolUse {
                        message: id,
                        id: call,
                        name: name.into_string(),
                        input,
                        parent: parent.map(str::to_owned),
                    }));
                }
                ("text", None) => self.messages.finish_text(text.into_string(), model.clone(), out),
                ("thinking", None) => self.messages.finish_thinking(thinking.into_string(), out),
                _ => {}
            }
        }
    }

    fn tool_results(&mut self, message: Message<'_>, parent: Option<&str>, out: &mut Vec<Step>) {
        let TextOr::Blocks(blocks) = message.content else {
            return;
        };
        let mut carrier = None;
        for block in blocks.into_iter().filter(|block| block.kind.as_str() == "tool_result") {
            let id = block.tool_use_id.as_str().to_owned();
            // A cut line has lost its parent, which stands at the end.
            let parent = parent.map(str::to_owned).or_else(|| self.inside.get(&id).cloned());
            let message = *carrier.get_or_insert_with(|| self.messages.another());
            let (error, output) = (block.is_error.is_set(), block.output());
            out.push(Step::Emit(Event::ToolResult { message, id, output, error, parent }));
        }
    }

    /// The one line that ends a turn.
    fn result(&mut self, wire: &Wire<'_>, out: &mut Vec<Step>) {
        let failed = wire.is_error.0.unwrap_or(wire.subtype.as_str() != "success");
        let nothing_ran = failed && wire.num_turns.0 == Some(0.0);
        let words = if failed { wire.words() } else { String::new() };
        if nothing_ran && self.run.resumed && self.phase == Phase::Silent && failure::is_rejection(&words) {
            self.finish(Step::Rejected(words), out);
            return;
        }
        // A failure names no session: it may carry an id of nothing.
        if !failed {
            self.note(wire, out);
        } else if !nothing_ran {
            self.stored(out);
        }
        if let Some(text) = wire.result.filled().filter(|_| !failed && !self.messages.said()) {
            self.messages.begin("", out);
            self.messages.finish_text(text.to_owned(), None, out);
        }
        let (usage, cost) = (wire.usage(), wire.total_cost_usd.0.filter(|cost| *cost > 0.0));
        if !usage.is_zero() || cost.is_some() {
            out.push(Step::Emit(Event::Usage { usage, cost }));
        }
        let aborted = wire.terminal_reason.as_str().starts_with("aborted");
        let stopped = aborted || wire.subtype.as_str() == "error_during_execution";
        let outcome = if !failed {
            Outcome::Completed
        } else if stopped && self.interrupted {
            Outcome::Cancelled
        } else if aborted {
            Outcome::failed(FailureClass::Other, "Claude was interrupted by somebody else")
        } else {
            let status = wire.api_error_status.0.map(|status| status as u16);
            let class = failure::classify(wire.subtype.as_str(), status, &words);
            let words = if words.is_empty() { wire.subtype.as_str().to_owned() } else { words };
            Outcome::failed(class, words)
        };
        self.end(outcome, out);
    }

    fn end(&mut self, outcome: Outcome, out: &mut Vec<Step>) {
        self.finish(Step::Ended(outcome), out);
    }

    fn finish(&mut self, last: Step, out: &mut Vec<Step>) {
        self.phase = Phase::Over;
        if self.run.chat {
            out.push(Step::CloseStdin);
        }
        out.push(last);
    }
}

impl Driver for ClaudeDriver {
    fn begin_turn(&mut self, turn: &TurnRequest<'_>, out: &mut Vec<Step>) -> Result<(), Refusal> {
        checks::prompt(turn.composed.prompt())?;
        if self.run.chat {
            out.push(Step::Write(prompt::message(turn.composed.prompt(), turn.attachments)));
        } else {
            let (text, warning) = prompt::alone(turn.composed.prompt())?;
            out.extend(warning.map(turn::warning));
            out.extend([Step::Write(text), Step::CloseStdin]);
        }
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
        let silent = self.phase == Phase::Silent;
        self.phase = Phase::Over;
        if silent && self.run.resumed && failure::is_rejection(exit.stderr) {
            out.push(Step::Rejected(exit.stderr.trim().to_owned()));
            return;
        }
        out.push(Step::Ended(if self.interrupted {
            Outcome::Cancelled
        } else {
            let refused = silent && exit.code.is_some_and(|code| code != 0);
            let class = if refused { failure::classify_words(exit.stderr) } else { FailureClass::NoResult };
            Outcome::failed(class, ended_early("Claude", exit))
        }));
    }

    fn answer(&mut self, question: &str, answer: Answer, out: &mut Vec<Step>) {
        if self.phase != Phase::Over {
            self.questions.answer(question, answer, out);
        }
    }

    fn interrupt(&mut self, out: &mut Vec<Step>) {
        // Before its first line Claude would take note of it and then begin all the same.
        let can_hear = self.run.chat && matches!(self.phase, Phase::Begun | Phase::Stored);
        if can_hear && !self.interrupted {
            out.push(interrupt_request());
        }
        self.interrupted = true;
    }
}

fn interrupt_request() -> Step {
    let request = json!({
        "type": "control_request",
        "request_id": "rejoin-interrupt",
        "request": { "subtype": "interrupt" },
    });
    Step::Write(json_line(&request))
}
