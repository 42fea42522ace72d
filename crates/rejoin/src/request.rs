//! What is wanted of a turn, as plain data: it can be queued, stored and sent to where it is carried out.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use rejoin_core::{Agent, ConversationId, MessageId, Permissions, RequestKey, Scope, StandIn, TurnId};
use rejoin_engine::{KeptAttachment, Limits};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{Error, check_name};

/// One turn that is wanted. Configuration, environment, keys and the state of the conversation are looked
/// up where and when it is carried out ([`crate::Rejoin::start`]).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::struct_excessive_bools, reason = "each is a wish of its own")]
#[non_exhaustive]
pub struct TurnRequest {
    /// The id the turn will have: whoever asks twice by the same id asks for one turn.
    pub turn: TurnId,
    /// The directory the user stands in: it tells the project.
    pub dir: PathBuf,
    /// The conversation to go on with; a new one without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<WantedConversation>,
    /// The id a new conversation will have.
    pub new_conversation: ConversationId,
    /// Where in the conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<WantedPlace>,
    /// Who does it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Agent>,
    /// Who goes on, one after the other, where a limit is reached: see [`crate::TurnBuilder::fallback`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fallback: Vec<Agent>,
    /// Also if something was done already when it was reached.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fallback_after_work: bool,
    /// In whose stead the agent does it, if a limit is why: see [`crate::Rejoin::instead_of_limited`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stands_in: Option<StandIn>,
    /// The user's words.
    pub prompt: String,
    /// Files that go along.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attach: Vec<PathBuf>,
    /// Files that go along and are kept in the store: see [`crate::Rejoin::keep_attachments`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attach_kept: Vec<KeptAttachment>,
    /// Where the agent shall keep its sessions from now on; empty for its own place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_dir: Option<PathBuf>,
    /// Where to run, if not in the conversation's own directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
    /// A new session that is told the history.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fresh: bool,
    /// Nothing is recorded.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ephemeral: bool,
    /// The model, in the agent's own terms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What the agent may do, from this turn on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permissions: Option<Permissions>,
    /// The widest level whoever asks may have the turn run at, whatever anybody named. Who carries out a request of
    /// somebody else says it then: it is no part of what was asked for, and is not stored.
    #[serde(skip)]
    pub ceiling: Option<Permissions>,
    /// Which turns agents should know; only when a conversation begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// Replaces the agent's system prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    /// Is added to the agent's system prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub append_system_prompt: Option<String>,
    /// Arguments for the agent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extra_args: Vec<String>,
    /// Variables added to the agent's environment. Journals never hold them; whoever stores a request does.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// How long things may take.
    #[serde(default)]
    pub limits: Limits,
    /// How long to wait for a conversation that is in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<Duration>,
    /// Somebody is there to answer the agent's questions; else they are declined.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interactive: bool,
    /// The caller's own name for this request. Asked for again with the same one, no other turn is run in that
    /// conversation: the one that stands is named ([`TurnError::AlreadyAsked`](rejoin_engine::TurnError::AlreadyAsked)).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
}

/// Which conversation was asked for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WantedConversation {
    /// The newest of the project; with none there, a warning and a new one.
    Latest,
    /// The one of this name; with none there, a new one.
    Named(String),
    /// By its id, a unique prefix, its name, or the agent's own session id.
    Reference(String),
    /// This one.
    Id(ConversationId),
}

/// As it was asked for.
impl fmt::Display for WantedConversation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WantedConversation::Latest => f.write_str("continue_latest"),
            WantedConversation::Named(name) => write!(f, "conversation {name:?}"),
            WantedConversation::Reference(text) => write!(f, "resume {text:?}"),
            WantedConversation::Id(id) => write!(f, "in_conversation {id}"),
        }
    }
}

/// Where in the conversation; without it, at the head.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WantedPlace {
    /// After the turn of this message.
    After(WantedMessage),
    /// Beside the turn of this message, in its stead.
    InsteadOf(WantedMessage),
    /// The turn of this message (else the head's) again.
    Again(Option<WantedMessage>),
}

/// As it was asked for.
impl fmt::Display for WantedPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WantedPlace::After(message) => write!(f, "checkpoint {message}"),
            WantedPlace::InsteadOf(message) => write!(f, "instead_of {message}"),
            WantedPlace::Again(Some(message)) => write!(f, "retry {message}"),
            WantedPlace::Again(None) => f.write_str("retry"),
        }
    }
}

/// A message of a conversation. A whole id in JSON is an id, all else is looked up.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum WantedMessage {
    /// This one; a turn is its prompt.
    Id(MessageId),
    /// In the user's terms: an id or a unique prefix, a turn's number, a branch, `@` (the head), `@~1`.
    Reference(String),
}

/// As it was asked for.
impl fmt::Display for WantedMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WantedMessage::Id(id) => id.fmt(f),
            WantedMessage::Reference(text) => write!(f, "{text:?}"),
        }
    }
}

impl From<MessageId> for WantedMessage {
    fn from(id: MessageId) -> Self {
        Self::Id(id)
    }
}

impl From<String> for WantedMessage {
    fn from(text: String) -> Self {
        Self::Reference(text)
    }
}

impl From<&String> for WantedMessage {
    fn from(text: &String) -> Self {
        Self::Reference(text.clone())
    }
}

impl From<&str> for WantedMessage {
    fn from(text: &str) -> Self {
        Self::Reference(text.to_owned())
    }
}

impl TurnRequest {
    /// A turn with this prompt in a new conversation of the project around a directory.
    pub fn new(dir: impl Into<PathBuf>, prompt: impl Into<String>) -> Self {
        Self {
            turn: TurnId::new(uuid::Uuid::new_v4()),
            dir: dir.into(),
            conversation: None,
            new_conversation: ConversationId::new(uuid::Uuid::new_v4()),
            place: None,
            agent: None,
            fallback: Vec::new(),
            fallback_after_work: false,
            stands_in: None,
            prompt: prompt.into(),
            attach: Vec::new(),
            attach_kept: Vec::new(),
            session_dir: None,
            cwd: None,
            fresh: false,
            ephemeral: false,
            model: None,
            permissions: None,
            ceiling: None,
            scope: None,
            system_prompt: None,
            append_system_prompt: None,
            extra_args: Vec::new(),
            env: BTreeMap::new(),
            limits: Limits::default(),
            wait: None,
            interactive: false,
            idempotency_key: None,
        }
    }

    /// Whether files go along.
    pub(crate) fn attaches(&self) -> bool {
        !self.attach.is_empty() || !self.attach_kept.is_empty()
    }

    /// By what it is told from other requests: its key and a digest of what is asked for.
    pub(crate) fn key(&self) -> Option<RequestKey> {
        let key = self.idempotency_key.clone()?;
        // Without what differs between two tries, and without secrets: nothing of the environment is recorded.
        let asked = Self {
            turn: TurnId::new(uuid::Uuid::nil()),
            new_conversation: ConversationId::new(uuid::Uuid::nil()),
            env: BTreeMap::new(),
            wait: None,
            idempotency_key: None,
            ..self.clone()
        };
        let hash = Sha256::digest(serde_json::to_vec(&asked).unwrap_or_default());
        let first = hash.first_chunk().copied().unwrap_or_default();
        Some(RequestKey { key, digest: format!("{:032x}", u128::from_be_bytes(first)) })
    }

    /// Refuses what contradicts itself.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if let (Some(again @ WantedPlace::Again(_)), false) = (&self.place, self.prompt.is_empty()) {
            return Err(Error::usage(format!(
                "{again} and a prompt exclude each other: a turn is run again with its own words; use instead_of for others"
            )));
        }
        if self.fresh && self.ephemeral {
            return Err(Error::usage("a fresh session that is kept and an ephemeral one exclude each other"));
        }
        if self.session_dir.is_some() && self.ephemeral {
            return Err(Error::usage(
                "an ephemeral turn stores nothing: a directory for sessions is of no use to it",
            ));
        }
        if self.place.is_some() && self.conversation.is_none() {
            return Err(Error::usage("a checkpoint needs the conversation it is in: continue or resume one"));
        }
        if let Some(WantedConversation::Named(name)) = &self.conversation {
            check_name(name)?;
        }
        for (name, value) in &self.env {
            if name.is_empty() || name.contains(['=', '\0']) {
                return Err(Error::usage(format!("{name:?} cannot name a variable")));
            }
            if value.contains('\0') {
                return Err(Error::usage(format!("the variable {name} contains a NUL byte")));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_tries_of_one_request_have_one_digest_and_another_request_has_another() {
        let request = |prompt: &str| TurnRequest {
            idempotency_key: Some("k".into()),
            ..TurnRequest::new("/home/ann/app", prompt)
        };
        let (first, again) = (request("hello"), request("hello"));
        assert_ne!(first.turn, again.turn);
        assert_eq!(first.key(), again.key());
        let patient = TurnRequest { wait: Some(Duration::from_secs(1)), ..request("hello") };
        assert_eq!(first.key(), patient.key());
        assert_ne!(first.key(), request("hello!").key());
        assert_eq!(TurnRequest::new("/home/ann/app", "hello").key(), None);
    }
}
