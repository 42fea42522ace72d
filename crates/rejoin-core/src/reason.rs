use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a turn starts a fresh session. The names are stable: shown, stored, documented.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum Reason {
    /// There is nothing to remember yet.
    FirstTurn,
    /// `--fresh-session`.
    Forced,
    /// `--ephemeral`.
    Ephemeral,
    /// `resume = "never"` in the configuration.
    Disabled,
    /// This agent has no session in this conversation yet.
    NoSession,
    /// This installation of the agent cannot resume.
    Unsupported,
    /// A turn the session may hold was edited, taken back or left on another branch.
    HistoryChanged,
    /// The session lives in another directory.
    WorkdirChanged {
        /// The session's directory.
        was: String,
        /// This turn's directory.
        now: String,
    },
    /// The command is another program than the one that made the session.
    RuntimeChanged {
        /// What made it.
        was: String,
        /// What would resume it.
        now: String,
    },
    /// The agent keeps its sessions elsewhere now (another account, another home).
    StoreChanged {
        /// Where the session was kept.
        was: String,
        /// Where the agent looks now.
        now: String,
    },
    /// The conversation's scope is another one than when the session was made.
    ScopeChanged,
    /// The agent's stored session is gone, or no longer holds what it must.
    SessionMissing {
        /// Its id.
        session: String,
        /// What is wrong with it, if it is not gone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    },
    /// The session was announced, but nothing shows that it was ever stored.
    SessionUnconfirmed {
        /// Its id.
        session: String,
    },
    /// The session kept failing and was given up.
    SessionRetired {
        /// Its id.
        session: String,
        /// What ended it.
        why: String,
    },
    /// The agent refused to resume it, just now.
    SessionRejected {
        /// Its id.
        session: String,
        /// The agent's words.
        why: String,
    },
    /// A reason of a newer version.
    #[serde(other)]
    Unknown,
}

impl Reason {
    /// The stable name.
    pub const fn name(&self) -> &'static str {
        match self {
            Reason::FirstTurn => "first_turn",
            Reason::Forced => "forced",
            Reason::Ephemeral => "ephemeral",
            Reason::Disabled => "disabled",
            Reason::NoSession => "no_session",
            Reason::Unsupported => "unsupported",
            Reason::HistoryChanged => "history_changed",
            Reason::WorkdirChanged { .. } => "workdir_changed",
            Reason::RuntimeChanged { .. } => "runtime_changed",
            Reason::StoreChanged { .. } => "store_changed",
            Reason::ScopeChanged => "scope_changed",
            Reason::SessionMissing { .. } => "session_missing",
            Reason::SessionUnconfirmed { .. } => "session_unconfirmed",
            Reason::SessionRetired { .. } => "session_retired",
            Reason::SessionRejected { .. } => "session_rejected",
            Reason::Unknown => "unknown",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::FirstTurn => f.write_str("first turn"),
            Reason::Forced => f.write_str("a fresh session was asked for"),
            Reason::Ephemeral => f.write_str("ephemeral, nothing is kept"),
            Reason::Disabled => f.write_str("resuming is switched off in the configuration"),
            Reason::NoSession => f.write_str("no session of this agent here yet"),
            Reason::Unsupported => f.write_str("this installation cannot resume"),
            Reason::HistoryChanged => f.write_str("history changed since its session saw it"),
            Reason::WorkdirChanged { was, now } => {
                write!(f, "working directory changed (was {was}, now {now})")
            }
            Reason::RuntimeChanged { was, now } => {
                write!(f, "another program (was {was}, now {now})")
            }
            Reason::StoreChanged { was, now } => {
                write!(f, "sessions are kept elsewhere (was {was}, now {now})")
            }
            Reason::ScopeChanged => f.write_str("scope changed"),
            Reason::SessionMissing { session, why: None } => {
                write!(f, "its stored session {} is gone", short(session))
            }
            Reason::SessionMissing { session, why: Some(why) } => {
                write!(f, "its stored session {} is damaged ({why})", short(session))
            }
            Reason::SessionUnconfirmed { session } => {
                write!(f, "its session {} was never stored", short(session))
            }
            Reason::SessionRetired { session, why } => {
                write!(f, "its session {} was given up ({why})", short(session))
            }
            Reason::SessionRejected { session, why } => {
                write!(f, "it refused to resume {} ({why})", short(session))
            }
            Reason::Unknown => f.write_str("a reason this version does not know"),
        }
    }
}

fn short(session: &str) -> &str {
    session.get(..8).unwrap_or(session)
}
