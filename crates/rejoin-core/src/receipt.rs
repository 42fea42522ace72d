use serde::{Deserialize, Serialize};

use crate::{Agent, Attachment, ConversationId, Outcome, Reason, StandIn, TurnId, Usage};

/// A plan as it is shown and stored: what was decided, without the texts.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "decision", rename_all = "snake_case")]
pub enum Decision {
    /// The agent's own session goes on.
    Resume {
        /// Its id.
        session: String,
        /// Turns it is told because it missed them.
        catch_up: usize,
    },
    /// A new session, told the history.
    Fresh {
        /// Why.
        #[serde(flatten)]
        why: Reason,
        /// Turns replayed to it.
        replayed: usize,
    },
    /// Nothing was decided here: the agent took the turn in its own session, without rejoin.
    Adopted {
        /// The session's id.
        session: String,
    },
}

impl Decision {
    /// The agent's own session goes on.
    pub const fn resumes(&self) -> bool {
        matches!(self, Decision::Resume { .. })
    }
}

/// What was done in a turn.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct Receipt {
    /// The conversation; absent for `--ephemeral`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<ConversationId>,
    /// The turn.
    pub turn: TurnId,
    /// Who did it.
    pub agent: Agent,
    /// What was decided in the end (after a rejected resume: fresh).
    pub plan: Decision,
    /// How many times the agent was launched.
    pub runs: u32,
    /// The session asked for, if one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<String>,
    /// The session the agent said it used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The model it said it used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How it ended.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// When the limit that ended it (`quota`) resets, where the agent told it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resets: Option<String>,
    /// The agent did it because the limit of another one was reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stands_in: Option<StandIn>,
    /// Bytes sent to the agent.
    pub bytes: usize,
    /// Of a resumed turn: bytes that a fresh session would have been sent instead, by the stored sizes of the turns
    /// it would have been told, within the agent's replay budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay_bytes: Option<usize>,
    /// Files sent along.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    /// The replay had to be shortened.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lossy: bool,
    /// Tokens of this turn, where the agent tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// In US dollars, where the agent tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// Wall time.
    pub milliseconds: u64,
    /// The agent's exit code, where it ended by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Lines that were not events.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub diagnostics: u64,
    /// What the user was warned of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl Receipt {
    /// A turn of which no more is known than this.
    pub fn new(turn: TurnId, agent: Agent, plan: Decision, outcome: Outcome) -> Self {
        Self {
            conversation: None,
            turn,
            agent,
            plan,
            runs: 0,
            asked: None,
            session: None,
            model: None,
            outcome,
            resets: None,
            stands_in: None,
            bytes: 0,
            replay_bytes: None,
            attachments: Vec::new(),
            lossy: false,
            usage: None,
            cost: None,
            milliseconds: 0,
            exit_code: None,
            diagnostics: 0,
            warnings: Vec::new(),
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does not compile when a field is added: set it in the tests that write all of them (`tests/it/records.rs`,
    /// rejoin-journal's `documented.rs`), and write it into docs/journal.md.
    #[test]
    fn a_receipt_has_these_fields() {
        let plan = Decision::Resume { session: "s".into(), catch_up: 0 };
        let turn = TurnId::new(uuid::Uuid::from_u128(1));
        let Receipt {
            conversation: _,
            turn: _,
            agent: _,
            plan: _,
            runs,
            asked: _,
            session: _,
            model: _,
            outcome: _,
            resets: _,
            stands_in: _,
            bytes: _,
            replay_bytes: _,
            attachments: _,
            lossy: _,
            usage: _,
            cost: _,
            milliseconds: _,
            exit_code: _,
            diagnostics: _,
            warnings: _,
        } = Receipt::new(turn, Agent::Claude, plan, Outcome::Completed);
        assert_eq!(runs, 0);
    }
}
