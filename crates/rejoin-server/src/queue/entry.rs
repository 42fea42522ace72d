//! The lines of a conversation's queue on the disk.

use rejoin::{Agent, ConversationId, Cursor, TurnId, TurnRequest};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// Something that happened to the queue of a conversation.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Entry {
    /// A run was asked for.
    Queued(Box<Asked>),
    /// What it says was changed before it began.
    Edited { run: TurnId, prompt: String },
    /// The runs that wait were put into another order.
    Ordered { order: Vec<TurnId> },
    /// Its turn stands in a journal.
    Begun { run: TurnId, conversation: ConversationId, time: String },
    /// It is over, or never began.
    Ended {
        run: TurnId,
        status: RunEnd,
        /// Why it never began.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        problem: Option<Value>,
        /// Who did it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<Agent>,
        time: String,
    },
    /// Nothing begins until it goes on.
    Paused { why: String },
    /// It goes on.
    Resumed,
    /// A line of a newer version.
    #[serde(other)]
    Unknown,
}

/// A run as it was asked for.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Asked {
    /// Whose rights it has.
    pub(crate) token: String,
    /// Of the body: the same key for another one is a mistake.
    pub(crate) digest: String,
    /// The turn; its id is the run's.
    pub(crate) request: TurnRequest,
    /// The root of its project.
    pub(crate) project: String,
    /// The name its conversation will have, if it is yet to begin and was asked for by one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    /// Where to watch the conversation from.
    pub(crate) cursor: Cursor,
    /// When.
    pub(crate) time: String,
}

impl Asked {
    pub(crate) fn run(&self) -> TurnId {
        self.request.turn
    }
}

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RunEnd {
    Completed,
    Failed,
    Timeout,
    Cancelled,
    Interrupted,
}

impl RunEnd {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
            Self::Interrupted => "interrupted",
        }
    }
}

impl From<&rejoin::Outcome> for RunEnd {
    fn from(outcome: &rejoin::Outcome) -> Self {
        match outcome {
            rejoin::Outcome::Completed => Self::Completed,
            rejoin::Outcome::Failed { .. } => Self::Failed,
            rejoin::Outcome::Timeout { .. } => Self::Timeout,
            rejoin::Outcome::Cancelled => Self::Cancelled,
        }
    }
}
