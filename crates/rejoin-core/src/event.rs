use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Agent, Attachment, ConversationId, Decision, MessageId, Question, QuestionAnswer, Receipt, TurnId, Usage,
};

/// Version of the event stream, in its first line. It changes only when a reader would break.
pub const SCHEMA_VERSION: u32 = 1;

/// One line of the event stream, the same for every agent. Documented in docs/events.md.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event {
    /// First line: our ids and what will be done.
    Init {
        /// [`SCHEMA_VERSION`].
        schema: u32,
        /// Version of rejoin.
        version: String,
        /// The conversation; absent for `--ephemeral`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        conversation: Option<ConversationId>,
        /// The turn that begins.
        turn: TurnId,
        /// How many turns the path has, this one included.
        number: usize,
        /// Who will do it.
        agent: Agent,
        /// Resume or fresh, and why.
        plan: Decision,
        /// Where.
        cwd: String,
        /// Bytes that go to the agent.
        bytes: usize,
        /// Files that go along.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        attachments: Vec<Attachment>,
    },
    /// The agent's own session, as soon as it is known.
    Session {
        /// Whose.
        agent: Agent,
        /// The agent's own id.
        session: String,
        /// The model it says it uses.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// The agent's version, where it tells.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent_version: Option<String>,
    },
    /// A piece of the answer while it is being written.
    TextDelta {
        /// The message it belongs to.
        message: MessageId,
        /// Bytes of text of this message before this piece.
        offset: usize,
        /// The piece.
        text: String,
    },
    /// A finished block of the answer. Whoever printed the deltas prints only what is new. An empty
    /// one takes back what was streamed: the agent began anew after a broken stream.
    Message {
        /// Its id.
        message: MessageId,
        /// Bytes of text of this message before this block.
        offset: usize,
        /// The whole block.
        text: String,
        /// The model that wrote it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// The agent's id of the message.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        native: Option<String>,
    },
    /// The model's thinking.
    Thinking {
        /// The message it belongs to.
        message: MessageId,
        /// A piece of it.
        text: String,
    },
    /// The agent uses a tool.
    ToolUse {
        /// The message it belongs to.
        message: MessageId,
        /// The agent's id of the call.
        id: String,
        /// Name of the tool.
        name: String,
        /// Its arguments.
        input: Value,
        /// The call of a subagent this happened in: not part of the conversation.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent: Option<String>,
    },
    /// What the tool gave back.
    ToolResult {
        /// The message that carries it.
        message: MessageId,
        /// The agent's id of the call.
        id: String,
        /// The output, as text.
        output: String,
        /// The tool reported a failure.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        error: bool,
        /// The call of a subagent this happened in.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent: Option<String>,
    },
    /// Tokens counted for this turn so far.
    Usage {
        /// For the turn.
        #[serde(flatten)]
        usage: Usage,
        /// In US dollars, where the agent tells.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<f64>,
    },
    /// The agent asks something and waits.
    Question(Question),
    /// A question got its answer; the first one stands.
    QuestionAnswered(QuestionAnswer),
    /// The agent took a question back: nobody need answer it any more.
    QuestionWithdrawn {
        /// The agent's id of the question.
        question: String,
    },
    /// The agent shortened its own memory.
    Compaction {
        /// What it says about it.
        text: String,
    },
    /// Something the user should know; the turn goes on.
    Warning {
        /// A stable word.
        code: String,
        /// In words.
        text: String,
    },
    /// A line of the agent that is not an event; kept, counted, never fatal.
    Diagnostic {
        /// Where it was printed.
        stream: Stream,
        /// The line, cut at a few KiB.
        text: String,
    },
    /// The agent refused to resume; a fresh run with the whole history follows.
    ResumeRejected {
        /// Whose.
        agent: Agent,
        /// The session that was asked for.
        session: String,
        /// The agent's words, or the id it came with instead.
        text: String,
    },
    /// Last line, exactly once.
    Result {
        /// The answer.
        text: String,
        /// What was done.
        #[serde(flatten)]
        receipt: Box<Receipt>,
    },
}

/// An output stream of the agent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does not compile when a kind of event is added: then it belongs into `events` of `tests/it/records.rs` as well,
    /// into docs/events.md, and into what is recorded and retold.
    #[test]
    fn an_event_is_one_of_these() {
        let is_known = |event: &Event| match event {
            Event::Init { .. }
            | Event::Session { .. }
            | Event::TextDelta { .. }
            | Event::Message { .. }
            | Event::Thinking { .. }
            | Event::ToolUse { .. }
            | Event::ToolResult { .. }
            | Event::Usage { .. }
            | Event::Question(_)
            | Event::QuestionAnswered(_)
            | Event::QuestionWithdrawn { .. }
            | Event::Compaction { .. }
            | Event::Warning { .. }
            | Event::Diagnostic { .. }
            | Event::ResumeRejected { .. }
            | Event::Result { .. } => true,
        };
        assert!(is_known(&Event::Compaction { text: String::new() }));
    }
}
