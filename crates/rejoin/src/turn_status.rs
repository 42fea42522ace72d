//! How a turn stands, in one word.

use rejoin_core::{Outcome, QuestionState, Turn};
use serde::{Deserialize, Serialize};

use crate::{ConversationView, Error};

/// How a turn stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TurnStatus {
    /// An agent is at it.
    Running,
    /// An agent is at it and has asked something that nobody answered yet.
    Waiting,
    /// The agent said it was done.
    Completed,
    /// It failed.
    Failed,
    /// One of our limits ran out.
    Timeout,
    /// The user stopped it.
    Cancelled,
    /// rejoin was stopped in the middle of it.
    Interrupted,
}

impl TurnStatus {
    /// The stable word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
            Self::Interrupted => "interrupted",
        }
    }

    /// Whether an agent is at it.
    pub const fn is_running(self) -> bool {
        matches!(self, Self::Running | Self::Waiting)
    }
}

impl ConversationView<'_> {
    /// How a turn stands now. One without a receipt runs only if it is the head's and somebody holds the
    /// conversation.
    pub fn turn_status(&self, turn: &Turn) -> Result<TurnStatus, Error> {
        if let Some(receipt) = &turn.receipt {
            return Ok(match receipt.outcome {
                Outcome::Completed => TurnStatus::Completed,
                Outcome::Failed { .. } => TurnStatus::Failed,
                Outcome::Timeout { .. } => TurnStatus::Timeout,
                Outcome::Cancelled => TurnStatus::Cancelled,
            });
        }
        let is_head = self.conversation().tree.head().is_some_and(|head| head.id == turn.id);
        if !is_head || !self.is_running() {
            return Ok(TurnStatus::Interrupted);
        }
        let waits = self.questions(turn)?.iter().any(|asked| matches!(asked.state, QuestionState::Open));
        Ok(if waits { TurnStatus::Waiting } else { TurnStatus::Running })
    }
}
