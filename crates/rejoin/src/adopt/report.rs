//! What came of adopting sessions.

use rejoin_core::{Agent, ConversationId};
use serde::{Deserialize, Serialize};

/// What was adopted, as `rejoin adopt --json` prints it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AdoptReport {
    /// The sessions that were looked at.
    pub sessions: Vec<AdoptedSession>,
    /// Nothing was written: this is what would be done.
    pub dry_run: bool,
}

/// A session, and what came of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AdoptedSession {
    /// Whose.
    pub agent: Agent,
    /// The agent's own id.
    pub session: String,
    /// The first line of what the user typed first.
    pub first_prompt: Option<String>,
    /// The conversation it belongs to now.
    pub conversation: Option<ConversationId>,
    /// What was done.
    pub outcome: AdoptOutcome,
    /// Turns that came.
    pub turns: usize,
    /// Turns that had not ended when they were adopted, and went on.
    pub grown: usize,
    /// The next turn can resume it.
    pub resumable: bool,
    /// Why it was left as it is, where it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What the user should know of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// What became of a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AdoptOutcome {
    /// It is a new conversation.
    New,
    /// Its conversation goes on with what was new.
    Longer,
    /// All of it is there already.
    Known,
    /// Its conversation was removed: it comes back only if it is named.
    Removed,
    /// It was left as it is.
    Left,
    /// It could not be read, or not be written down.
    Failed,
}
