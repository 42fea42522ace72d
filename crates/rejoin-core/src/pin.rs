use serde::{Deserialize, Serialize};

use crate::{FailureClass, Mark, Scope, SessionId, Usage};

/// Our pointer to an agent's session. What it goes through is told in `pin_life.rs`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Pin {
    /// The session, by the agent's own id.
    #[serde(flatten)]
    pub session: SessionId,
    /// The scope its slices were made with.
    pub scope: Scope,
    /// The directory it lives in (real path).
    pub dir: String,
    /// Where the agent kept it.
    pub store: String,
    /// The program that made it: command name and the product it says it is.
    pub product: String,
    /// Which `$REJOIN_HOME` made it: a copied journal's pins are inert elsewhere.
    pub home: String,
    /// Whether it may be relied on.
    #[serde(flatten)]
    pub state: PinState,
    /// What the session surely holds.
    pub seen: Mark,
    /// What it may hold.
    pub exposed: Mark,
    /// How the stored session looked when we last left it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub witness: Option<Witness>,
    /// How it looked before a turn that was not settled: whatever came of that, it holds this much.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<Witness>,
    /// Its history was shortened when it was replayed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lossy: bool,
    /// The agent's running total, for agents that count the whole session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<Usage>,
    /// Lasting failures in a row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failing: Option<Repeated>,
}

/// How far a pin may be trusted.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum PinState {
    /// The agent named the session; nothing shows yet that it is stored.
    Tentative,
    /// The agent showed that it is stored.
    Live,
    /// Never to be resumed again.
    Retired {
        /// What ended it.
        why: String,
    },
}

impl PinState {
    /// In a few words.
    pub fn words(&self) -> String {
        match self {
            PinState::Tentative => "tentative".into(),
            PinState::Live => "live".into(),
            PinState::Retired { why } => format!("given up: {why}"),
        }
    }
}

/// The same lasting failure, some times in a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Repeated {
    /// Which.
    pub class: FailureClass,
    /// How often.
    pub times: u32,
}

/// A stored session as seen from outside: where, how large, how old.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Witness {
    /// The file (or its equivalent).
    pub path: String,
    /// Its size in bytes.
    pub size: u64,
    /// Its modification time, nanoseconds since 1970.
    pub mtime: i64,
}
