use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::Agent;

macro_rules! uuid_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            /// Wraps a UUID made by the caller.
            pub const fn new(id: Uuid) -> Self {
                Self(id)
            }

            /// The first eight characters: what people see and type.
            pub fn short(&self) -> String {
                self.0.simple().to_string()[..8].to_owned()
            }

            /// The UUID itself.
            pub const fn uuid(&self) -> Uuid {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Uuid::try_parse(text).map(Self)
            }
        }
    };
}

uuid_id! {
    /// Names a conversation; also the name of its journal.
    ConversationId
}
uuid_id! {
    /// Names a message (or a system record) inside a conversation.
    MessageId
}

/// A turn is named by its user message.
pub type TurnId = MessageId;

/// An agent's own name for its session, with the agent it belongs to.
///
/// Only validated text becomes one: it can be passed as an argument without posing as a flag.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(try_from = "RawSessionId", into = "RawSessionId")]
pub struct SessionId {
    agent: Agent,
    #[cfg_attr(feature = "openapi", schema(rename = "session"))]
    id: String,
}

#[derive(Serialize, Deserialize)]
struct RawSessionId {
    agent: Agent,
    session: String,
}

/// A text that cannot be a session id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} cannot be a session id of {agent}: expected {expected}")]
pub struct InvalidSessionId {
    agent: Agent,
    text: String,
    expected: &'static str,
}

impl InvalidSessionId {
    /// For an agent that is stricter than [`SessionId::new`]; `expected` completes "expected …".
    pub fn new(agent: Agent, text: &str, expected: &'static str) -> Self {
        Self { agent, text: text.chars().take(40).collect(), expected }
    }
}

impl SessionId {
    /// Accepts what may safely stand as one argument of a command.
    pub fn new(agent: Agent, id: &str) -> Result<Self, InvalidSessionId> {
        let safe = (1..=128).contains(&id.len())
            && !id.starts_with('-')
            && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        if safe {
            Ok(Self { agent, id: id.to_owned() })
        } else {
            Err(InvalidSessionId::new(agent, id, "1 to 128 characters of A-Z a-z 0-9 _ -"))
        }
    }

    /// Whose session it is.
    pub fn agent(&self) -> &Agent {
        &self.agent
    }

    /// The id as the agent writes it.
    pub fn as_str(&self) -> &str {
        &self.id
    }

    /// The first eight characters, for people.
    pub fn short(&self) -> &str {
        &self.id[..self.id.len().min(8)]
    }
}

impl TryFrom<RawSessionId> for SessionId {
    type Error = InvalidSessionId;
    fn try_from(raw: RawSessionId) -> Result<Self, Self::Error> {
        Self::new(raw.agent, &raw.session)
    }
}

impl From<SessionId> for RawSessionId {
    fn from(id: SessionId) -> Self {
        Self { agent: id.agent, session: id.id }
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.id)
    }
}

impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.agent, self.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_id_can_never_be_a_flag_a_path_or_empty() {
        for bad in ["", "-x", "--resume", "a b", "../x", "a/b", "x.jsonl", "é", "a\n"] {
            assert!(SessionId::new(Agent::Codex, bad).is_err(), "{bad:?}");
        }
        for good in ["01a1e09c-6875-7203-a42d-c11166b3c878", "ses_296052f0bffeFudXE4xOn0vSEJ"] {
            assert!(SessionId::new(Agent::Codex, good).is_ok(), "{good:?}");
        }
    }

    #[test]
    fn a_short_id_is_eight_characters() {
        let id: ConversationId = "4f1c2a9e-0000-4000-8000-000000000000".parse().unwrap();
        assert_eq!(id.short(), "4f1c2a9e");
    }
}
