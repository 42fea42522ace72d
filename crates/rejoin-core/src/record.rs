use std::borrow::Cow;

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::{CallStatus, Content, ConversationId, MessageId, RequestKey, SessionId, System, Usage};

/// One line of a journal, as it is written. Documented in docs/journal.md.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// The message it belongs to; several records may share one and are merged on reading.
    pub uuid: MessageId,
    /// The message before it; for a system record, the turn it is about.
    pub parent_uuid: Option<MessageId>,
    /// The conversation.
    pub session_id: ConversationId,
    /// When it was written, for display: order comes from the file.
    pub timestamp: String,
    /// Who speaks.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// The directory the turn runs in.
    pub cwd: String,
    /// The version of rejoin that wrote it.
    pub version: String,
    /// The git branch, inside a work tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_branch: Option<String>,
    /// What kind of system record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subtype: Option<String>,
    /// What was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Content>,
    /// These parts replace the message's text from this byte on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<usize>,
    /// Bytes of the message's text before these parts; none for the first ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<usize>,
    /// Tokens of the turn so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Usage>,
    /// What the turn cost so far, in US dollars, where the agent tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// The model that wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What is to be shown of tool calls, and what subagents did in them: never on the path. See
    /// [`crate::CallNote`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls_metadata: Vec<Value>,
    /// Where it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native: Option<Native>,
    /// For what the user said: by what whoever asked for the turn tells his requests apart, where he does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<RequestKey>,
    /// The body of a system record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_payload: Option<Value>,
}

/// Where a message comes from, in the agent's own terms.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Native {
    /// The agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<crate::Agent>,
    /// Its session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Its id of the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
}

/// Who speaks in a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = MessageKind, rename_all = "snake_case"))]
pub enum Kind {
    /// The user: the beginning of a turn.
    User,
    /// The agent.
    Assistant,
    /// A tool of the agent.
    ToolResult,
    /// rejoin itself.
    System,
    /// Something a newer version writes.
    Unknown,
}

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Kind::User => "user",
            Kind::Assistant => "assistant",
            Kind::ToolResult => "tool_result",
            Kind::System => "system",
            Kind::Unknown => "unknown",
        }
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = Cow::<str>::deserialize(deserializer)?;
        Ok(match &*name {
            "user" => Kind::User,
            "assistant" => Kind::Assistant,
            "tool_result" => Kind::ToolResult,
            "system" => Kind::System,
            _ => Kind::Unknown,
        })
    }
}

/// A record as it is read to build the tree: the bodies are left unparsed.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Envelope<'a> {
    /// See [`Record::uuid`].
    pub uuid: MessageId,
    /// See [`Record::parent_uuid`].
    #[serde(default)]
    pub parent_uuid: Option<MessageId>,
    /// See [`Record::kind`].
    #[serde(rename = "type")]
    pub kind: Kind,
    /// See [`Record::timestamp`].
    #[serde(borrow, default)]
    pub timestamp: Cow<'a, str>,
    /// See [`Record::cwd`].
    #[serde(borrow, default)]
    pub cwd: Cow<'a, str>,
    /// See [`Record::subtype`].
    #[serde(borrow, default)]
    pub subtype: Option<Cow<'a, str>>,
    /// See [`Record::message`].
    #[serde(borrow, default)]
    pub message: Option<&'a RawValue>,
    /// See [`Record::tokens`].
    #[serde(borrow, default)]
    pub tokens: Option<&'a RawValue>,
    /// See [`Record::tool_calls_metadata`].
    #[serde(borrow, default)]
    pub tool_calls_metadata: Option<&'a RawValue>,
    /// See [`Record::system_payload`].
    #[serde(borrow, default)]
    pub system_payload: Option<&'a RawValue>,
}

impl Envelope<'_> {
    /// Whether the conversation was used when this was written, and not only labelled.
    pub fn is_use(&self) -> bool {
        self.kind != Kind::System || !self.subtype.as_deref().is_some_and(System::is_label)
    }

    /// The body of a system record this version understands.
    pub fn system(&self) -> Option<System> {
        System::read(self.subtype.as_deref()?, self.system_payload?.get())
    }

    /// Whether a system record is about what agents may do, even if it cannot be read.
    pub(crate) fn limits_permissions(&self) -> bool {
        self.subtype.as_deref() == Some(System::PERMISSIONS)
            || self.system_payload.is_some_and(|payload| System::mentions_a_level(payload.get().as_bytes()))
    }

    /// Tokens of the turn so far, where they can be read.
    pub fn usage(&self) -> Option<Usage> {
        serde_json::from_str(self.tokens?.get()).ok()
    }

    /// What became of the calls of tools that are noted here, those of subagents left out.
    pub(crate) fn call_statuses(&self) -> impl Iterator<Item = CallStatus> {
        #[derive(Deserialize)]
        struct Note {
            #[serde(default)]
            status: Option<CallStatus>,
            #[serde(default)]
            parent: Option<IgnoredAny>,
        }
        let notes = self.tool_calls_metadata.and_then(|notes| serde_json::from_str(notes.get()).ok());
        let notes: Vec<Note> = notes.unwrap_or_default();
        notes.into_iter().filter(|note| note.parent.is_none()).filter_map(|note| note.status)
    }

    /// The session a pin or an intent is about, even if the rest of it cannot be read.
    pub(crate) fn pinned_session(&self) -> Option<SessionId> {
        #[derive(Deserialize)]
        struct Intent {
            pin: SessionId,
        }
        let payload = self.system_payload?.get();
        match self.subtype.as_deref()? {
            "pin" => serde_json::from_str(payload).ok(),
            "intent" => serde_json::from_str(payload).ok().map(|intent: Intent| intent.pin),
            _ => None,
        }
    }
}
