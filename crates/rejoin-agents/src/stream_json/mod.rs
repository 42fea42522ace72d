//! The wire that Claude Code and Qwen Code share (`--output-format stream-json`): messages of blocks, pieces of
//! them, results of tools, subagents. What else they print, and how a turn ends, each has for itself.

pub(crate) mod blocks;
mod limit;
mod wire;

use std::collections::{HashMap, HashSet};

use rejoin_core::{Event, FailureClass, Outcome};
use serde_json::json;

use crate::Step;
use crate::driver::json_line;
use crate::loose::TextOr;
use crate::session_id::is_lower_case_uuid;
use crate::turn_state::{Phase, Turn};
use blocks::{Block, StreamEvent};

pub(crate) use limit::Limit;
pub(crate) use wire::{Asked, Asking, ControlRequest, Message, Tokens, Wire};

/// The model of messages the agent wrote itself.
const SYNTHETIC: &str = "<synthetic>";

/// What differs in how they write texts.
pub(crate) trait Texts {
    /// A message has its id from its beginning; else it gets it when it is finished, and is all its blocks.
    const NAMES_FIRST: bool;
    /// The first line of a user shows that the session is stored.
    const STORED_WITH_PROMPT: bool;

    /// A piece of text.
    fn piece(&mut self, text: String, turn: &mut Turn) {
        turn.stream_text(text);
    }

    /// A finished block of text. `counted`: the model's service told its tokens.
    fn block(&mut self, text: String, model: Option<String>, _counted: bool, turn: &mut Turn) {
        turn.finish_text(text, model);
    }
}

/// The calls of a conversation.
#[derive(Default)]
pub(crate) struct Conversation {
    /// Calls inside subagents, and the call each subagent is.
    inside: HashMap<String, String>,
    /// Calls of the conversation itself that have no result yet.
    pub(crate) open: HashSet<String>,
}

impl Conversation {
    /// Takes in a line of the conversation; says whether it was one.
    pub(crate) fn line<T: Texts>(&mut self, wire: Wire<'_>, texts: &mut T, turn: &mut Turn) -> bool {
        let parent = wire.parent_tool_use_id.filled();
        match wire.kind.as_str() {
            "stream_event" => {
                // Newer versions of Qwen tell of other things this way, before anything is stored (0.24).
                if wire.event.0.as_ref().is_some_and(StreamEvent::is_of_an_answer) {
                    wire.note(turn);
                }
                if let (None, Some(event)) = (parent, wire.event.0) {
                    stream(event, texts, turn);
                }
            }
            "assistant" => {
                wire.note(turn);
                // An error of the service poses as a message of the model; the result tells it.
                let failed = matches!(&wire.error, TextOr::Text(error) if !error.is_empty());
                if let Some(message) = wire.message.0.filter(|_| !failed) {
                    self.assistant(message, parent, texts, turn);
                }
            }
            "user" => {
                wire.note_session(turn);
                if T::STORED_WITH_PROMPT {
                    turn.stored();
                }
                if let Some(message) = wire.message.0 {
                    self.tool_results(message, parent, turn);
                }
            }
            _ => return false,
        }
        true
    }

    fn assistant<T: Texts>(
        &mut self,
        message: Message<'_>,
        parent: Option<&str>,
        texts: &mut T,
        turn: &mut Turn,
    ) {
        let counted = message.usage.0.as_ref().is_some_and(|tokens| !tokens.is_zero());
        let native = message.id.as_str();
        let id = match parent {
            Some(_) => turn.another(),
            None if T::NAMES_FIRST => turn.begin(native),
            None => {
                native.clone_into(&mut turn.current().native);
                turn.current().id
            }
        };
        let model = message.model.into_filled().filter(|model| model != SYNTHETIC);
        let blocks = match message.content {
            TextOr::Blocks(blocks) => blocks,
            TextOr::Text(text) if parent.is_none() => {
                texts.block(text.into_owned(), model.clone(), counted, turn);
                Vec::new()
            }
            TextOr::Text(_) | TextOr::Neither => Vec::new(),
        };
        for block in blocks {
            if block.is_call() {
                self.call(id, block, parent, turn);
            } else if parent.is_none() {
                match block.kind.as_str() {
                    "text" => texts.block(block.text.into_string(), model.clone(), counted, turn),
                    "thinking" => turn.finish_thinking(block.thinking.into_string()),
                    _ => {}
                }
            }
        }
        if !T::NAMES_FIRST && parent.is_none() {
            turn.close();
        }
    }

    fn call(
        &mut self,
        message: rejoin_core::MessageId,
        block: Block<'_>,
        parent: Option<&str>,
        turn: &mut Turn,
    ) {
        let id = block.id.into_string();
        match parent {
            Some(parent) => drop(self.inside.insert(id.clone(), parent.to_owned())),
            None => drop(self.open.insert(id.clone())),
        }
        let (name, parent) = (block.name.into_string(), parent.map(str::to_owned));
        turn.emit(Event::ToolUse { message, id, name, input: block.input, parent });
    }

    fn tool_results(&mut self, message: Message<'_>, parent: Option<&str>, turn: &mut Turn) {
        let TextOr::Blocks(blocks) = message.content else { return };
        let mut carrier = None;
        for block in blocks.into_iter().filter(|block| block.kind.as_str() == "tool_result") {
            let id = block.tool_use_id.as_str().to_owned();
            self.open.remove(&id);
            // A cut line has lost its parent, which stands at the end.
            let parent = parent.map(str::to_owned).or_else(|| self.inside.get(&id).cloned());
            let message = *carrier.get_or_insert_with(|| turn.another());
            let (error, output) = (block.is_error.is_set(), block.output());
            turn.emit(Event::ToolResult { message, id, output, error, parent });
        }
    }
}

fn stream<T: Texts>(event: StreamEvent<'_>, texts: &mut T, turn: &mut Turn) {
    match event.kind.as_str() {
        "content_block_delta" => {
            let delta = event.delta.0.unwrap_or_default();
            match delta.kind.as_str() {
                "text_delta" => texts.piece(delta.text.into_string(), turn),
                "thinking_delta" => turn.stream_thinking(delta.thinking.into_string()),
                _ => {}
            }
        }
        _ if !T::NAMES_FIRST => {}
        "content_block_start" if event.content_block.0.is_some_and(|block| block.is_text()) => {
            turn.begin_text();
        }
        "message_start" => {
            let started = event.message.0.unwrap_or_default();
            turn.begin(started.id.as_str());
        }
        _ => {}
    }
}

/// The agent begins, with what it may do: more than it should ends the turn.
pub(crate) fn begun(wire: &Wire<'_>, title: &str, limit: Limit, turn: &mut Turn) {
    turn.reach(Phase::Begun);
    wire.note_session(turn);
    if let Some(excess) = limit.exceeded_by(title, wire) {
        let text = format!(
            "{excess}, although the turn was limited with --permissions; it was stopped before it began"
        );
        if turn.open {
            turn.push(interrupt_request());
        }
        turn.end(Outcome::failed(FailureClass::Setup, text));
    }
}

/// Asks the agent to stop.
pub(crate) fn interrupt_request() -> Step {
    let request = json!({
        "type": "control_request",
        "request_id": "rejoin-interrupt",
        "request": { "subtype": "interrupt" },
    });
    Step::Write(json_line(&request))
}

impl Wire<'_> {
    /// A line that shows that the session is stored, and which one it is.
    pub(crate) fn note(&self, turn: &mut Turn) {
        self.note_session(turn);
        turn.stored();
    }

    /// The agent names its session, or moved to another one. A cut line may hold half an id: only
    /// whole ones count.
    pub(crate) fn note_session(&self, turn: &mut Turn) {
        let session = self.session_id.as_str();
        if session != turn.session && is_lower_case_uuid(session) {
            let version = self.claude_code_version.filled().or(self.qwen_code_version.filled());
            turn.name(session, self.model.filled().map(str::to_owned), version.map(str::to_owned));
        }
    }
}
