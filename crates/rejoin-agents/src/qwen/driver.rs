//! What Qwen's lines mean.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use rejoin_core::{Agent, Event, FailureClass, Outcome, Usage};

use super::failure;
use super::limit::Limit;
use super::messages::Messages;
use super::prompt;
use super::wire::{Message, Wire};
use crate::attached::Reads;
use crate::blocks::{Block, StreamEvent};
use crate::driver::{ended_saying, read_line};
use crate::loose::TextOr;
use crate::session_id::is_lower_case_uuid;
use crate::words::before_it_began;
use crate::{Driver, Exit, IdSource, Line, Refusal, Step, TurnRequest, checks, turn};

/// What it puts of a file into a prompt.
const READS: Reads = Reads { bytes: 24_000, lines: 999, width: 24_000 };

/// Lines that are known and say nothing about the turn.
const QUIET_LINES: &[&str] = &["control_request", "control_response", "control_cancel_request"];

/// How the run was launched.
pub(super) struct Run {
    /// Where it works: a name in a prompt may be that of a file there.
    pub(super) dir: PathBuf,
    /// It looks for files in other directories, too.
    pub(super) elsewhere: bool,
    /// It was asked to resume a session.
    pub(super) resumed: bool,
    /// It stores its session.
    pub(super) stores: bool,
    /// What it may do is limited.
    pub(super) limit: Limit,
    /// What the session had counted before.
    pub(super) total_before: Usage,
}

/// How far the turn has come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Silent,
    Begun,
    Stored,
    Over,
}

pub(super) struct QwenDriver {
    run: Run,
    phase: Phase,
    session: String,
    messages: Messages,
    /// Calls inside subagents, and the call each subagent is.
    inside: HashMap<String, String>,
    /// Calls of the conversation itself that have no result yet.
    open: HashSet<String>,
    /// The failure at the end of the last message, posing as its text.
    failure: Option<String>,
    /// The last failure of a subagent: no end of the turn, but perhaps the last word about it.
    inner_failure: Option<String>,
    interrupted: bool,
}

impl QwenDriver {
    pub(super) fn new(run: Run, ids: IdSource) -> Self {
        Self {
            run,
            phase: Phase::Silent,
            session: String::new(),
            messages: Messages::new(ids),
            inside: HashMap::new(),
            open: HashSet::new(),
            failure: None,
            inner_failure: None,
            interrupted: false,
        }
    }

    /// Says whether the line was understood.
    fn event(&mut self, wire: Wire<'_>, out: &mut Vec<Step>) -> bool {
        match wire.kind.as_str() {
            "stream_event" => {
                // Newer versions tell of other things this way, before anything is stored.
                let answers = wire.event.0.as_ref().is_some_and(StreamEvent::is_of_an_answer);
                if answers {
                    self.note(&wire, out);
                }
                if let (None, Some(event)) = (wire.parent_tool_use_id.filled(), wire.event.0) {
                    self.stream(event, out);
                }
            }
            "assistant" => {
                self.note(&wire, out);
                if let Some(message) = wire.message.0 {
                    self.assistant(message, wire.parent_tool_use_id.filled(), out);
                }
            }
            "user" => {
                self.note(&wire, out);
                if let Some(message) = wire.message.0 {
                    self.tool_results(message, wire.parent_tool_use_id.filled(), out);
                }
            }
            "result" => self.result(&wire, out),
            "system" => return self.system(&wire, out),
            kind => return QUIET_LINES.contains(&kind),
        }
        true
    }

    fn system(&mut self, wire: &Wire<'_>, out: &mut Vec<Step>) -> bool {
        let data = wire.data.0.as_ref();
        match wire.subtype.as_str() {
            "init" => self.init(wire, out),
            "retry" => {
                if !data.is_some_and(|data| data.preserve_text.is_set()) {
                    self.messages.withdraw(out);
                }
                let reason = data.and_then(|data| data.reason.filled()).unwrap_or("retry");
                let attempt = data.map_or(0, |data| data.attempt.count());
                let most = data.map_or(0, |data| data.max_retries.count());
                let counted =
                    if attempt > 0 { format!("; attempt {attempt} of {most}") } else { String::new() };
                let text = format!("the model's service failed ({reason}){counted}");
                out.push(Step::Emit(Event::Warning { code: "retry".into(), text }));
            }
            subtype if subtype.contains("compress") || subtype.contains("compact") => {
                let text = data.and_then(|data| data.notice.filled()).unwrap_or_default().to_owned();
                out.push(Step::Emit(Event::Compaction { text }));
            }
            subtype => {
                if let Some(notice) = data.and_then(|data| data.notice.filled()) {
                    let text = notice.to_owned();
                    out.push(Step::Emit(Event::Warning { code: subtype.to_owned(), text }));
                    return true;
                }
                return subtype.starts_with("task_") || subtype.starts_with("session_");
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

    /// Qwen names its session. A cut line may hold half an id: only whole ones count.
    fn note_session(&mut self, wire: &Wire<'_>, out: &mut Vec<Step>) {
        let session = wire.session_id.as_str();
        if session != self.session && is_lower_case_uuid(session) {
            session.clone_into(&mut self.session);
            out.push(Step::Emit(Event::Session {
                agent: Agent::Qwen,
                session: session.to_owned(),
                model: wire.model.filled().map(str::to_owned),
                agent_version: wire.qwen_code_version.filled().map(str::to_owned),
            }));
        }
    }

    fn stream(&mut self, event: StreamEvent<'_>, out: &mut Vec<Step>) {
        if event.kind.as_str() != "content_block_delta" {
            return;
        }
        let delta = event.delta.0.unwrap_or_default();
        match delta.kind.as_str() {
            "text_delta" => self.messages.stream_text(delta.text.into_string(), out),
            "thinking_delta" => self.messages.stream_thinking(delta.thinking.into_string(), out),
            _ => {}
        }
    }

    fn assistant(&mut self, message: Message<'_>, parent: Option<&str>, out: &mut Vec<Step>) {
        let counted = message.usage.0.as_ref().is_some_and(|tokens| !Usage::from(tokens).is_zero());
        let blocks = match (message.content, parent) {
            (TextOr::Blocks(blocks), _) => blocks,
            (TextOr::Text(text), None) => {
                let mut finished = self.messages.finish(message.id.into_filled(), None, counted);
                self.failure = finished.text(text.into_owned(), out);
                return;
            }
            _ => return,
        };
        if let Some(parent) = parent {
            let id = self.messages.another();
            for Block { id: call, name, input, .. } in blocks.into_iter().filter(Block::is_call) {
                let call = call.into_string();
                self.inside.insert(call.clone(), parent.to_owned());
                let (name, parent) = (name.into_string(), Some(parent.to_owned()));
                out.push(Step::Emit(Event::ToolUse { message: id, id: call, name, input, parent }));
            }
            return;
        }
        let native = message.id.into_filled();
        let mut finished = self.messages.finish(native, message.model.into_filled(), counted);
        self.failure = None;
        for block in blocks {
            match block.kind.as_str() {
                "text" => self.failure = finished.text(block.text.into_string(), out),
                "thinking" => finished.thinking(block.thinking.into_string(), out),
                "tool_use" => {
                    let (message, id) = (finished.id, block.id.into_string());
                    self.open.insert(id.clone());
                    let (name, input) = (block.name.into_string(), block.input);
                    out.push(Step::Emit(Event::ToolUse { message, id, name, input, parent: None }));
                }
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
            self.open.remove(&id);
            let parent = parent.map(str::to_owned).or_else(|| self.inside.get(&id).cloned());
            let message = *carrier.get_or_insert_with(|| self.messages.another());
            let (error, output) = (block.is_error.is_set(), block.output());
            out.push(Step::Emit(Event::ToolResult { message, id, output, error, parent }));
        }
    }

    /// The line that ends a turn, unless it is the end of a subagent.
    fn result(&mut self, wire: &Wire<'_>, out: &mut Vec<Step>) {
        let failed = wire.is_error.0.unwrap_or(wire.subtype.as_str() != "success");
        let told = wire.error.0.as_ref().and_then(|error| error.message.filled());
        let told = told.or_else(|| wire.result.filled()).unwrap_or_default();
        let inner = failed && self.phase != Phase::Silent && wire.duration_ms.count() == 0;
        if inner && !self.open.is_empty() {
            self.inner_failure = Some(told.to_owned());
            let text = format!("a subagent failed: {told}");
            out.push(Step::Emit(Event::Warning { code: "subagent".into(), text }));
            return;
        }
        // A failure names no session, and what never began has an id of nothing.
        if failed {
            self.stored(out);
        } else if self.phase != Phase::Silent {
            self.note(wire, out);
        }
        let posing = self.failure.take().or_else(|| {
            let text = wire.result.filled().filter(|_| !failed && !self.messages.said())?;
            failure::at_the_end(text).map(str::to_owned)
        });
        if let Some(text) =
            wire.result.filled().filter(|_| !failed && !self.messages.said() && posing.is_none())
        {
            self.messages.finish(None, None, true).text(text.to_owned(), out);
        }
        if let Some(tokens) = wire.usage.0.as_ref() {
            let total = Usage::from(tokens);
            // A turn that failed before it counted anything says zero, whatever went before.
            if !total.is_zero() {
                out.push(Step::Total(total));
                out.push(Step::Emit(Event::Usage { usage: total.since(self.run.total_before), cost: None }));
            }
        }
        let outcome = if self.interrupted && (failed || posing.is_some()) {
            Outcome::Cancelled
        } else if failed {
            let words = if told.is_empty() { wire.subtype.as_str() } else { told };
            let otherwise =
                if self.phase == Phase::Silent { FailureClass::Launch } else { FailureClass::Other };
            Outcome::failed(failure::classify(words, otherwise), failure::readable(words))
        } else if let Some(words) = posing {
            Outcome::failed(failure::classify(&words, FailureClass::Other), failure::readable(&words))
        } else {
            Outcome::Completed
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
        let begun = self.phase != Phase::Silent;
        if let Some(words) = self.inner_failure.take().or_else(|| self.failure.take()) {
            let class = failure::classify(&words, FailureClass::NoResult);
            return Outcome::failed(class, failure::readable(&words));
        }
        let failed = exit.code.is_some_and(|code| code != 0);
        let words = failure::last_words(exit.stderr);
        let otherwise = if failed && !begun {
            words.map_or(FailureClass::Launch, before_it_began)
        } else {
            FailureClass::NoResult
        };
        let told = words.filter(|_| failed);
        let class = told.map_or(otherwise, |words| failure::classify(words, otherwise));
        Outcome::failed(class, ended_saying("Qwen", exit, words))
    }
}

impl Driver for QwenDriver {
    fn begin_turn(&mut self, turn: &TurnRequest<'_>, out: &mut Vec<Step>) -> Result<(), Refusal> {
        checks::prompt(turn.composed.prompt())?;
        READS.check(super::launch::NAME, turn.attachments)?;
        let attached = turn.mentions(super::launch::NAME)?;
        // Other directories may hold what an @ names.
        let elsewhere = self.run.elsewhere || !attached.is_empty();
        let exists = |name: &str| elsewhere || self.run.dir.join(name).exists();
        let (mut text, escaped) = prompt::plain(turn.composed.prompt(), exists);
        if text.len() > prompt::LONGEST {
            let text =
                "the prompt is longer than 8 MiB, of which qwen would read only the beginning; shorten it";
            return Err(Refusal::Unsupported(text.into()));
        }
        if escaped {
            out.push(turn::warning(
                "qwen would put files into the prompt or move spaces where it holds an @: each was sent as \\@",
            ));
        }
        if !attached.is_empty() {
            text.to_mut().push_str(&attached);
        }
        out.extend([Step::Write(text.into_owned().into()), Step::CloseStdin]);
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
        if self.run.resumed && self.phase == Phase::Silent && failure::is_rejection(exit.stderr) {
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
