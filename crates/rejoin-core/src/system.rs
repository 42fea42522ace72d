use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Agent, ConversationId, Decision, MessageId, Part, Permissions, Pin, ProjectMarks, Question,
    QuestionAnswer, Receipt, Record, Scope, StandIn, TurnId,
};

/// What rejoin itself writes into a journal, besides what was said.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "subtype", content = "systemPayload", rename_all = "snake_case")]
pub enum System {
    /// The first record: what this conversation is.
    Conversation(ConversationInfo),
    /// It got a name.
    Title {
        /// The name.
        name: String,
    },
    /// It was labelled, or a label was taken off.
    Tags {
        /// New labels.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        add: Vec<String>,
        /// Labels it had.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        remove: Vec<String>,
    },
    /// Its project lies elsewhere now.
    Moved {
        /// The project (real path).
        project: String,
        /// The directory the conversation lives in.
        dir: String,
    },
    /// By what its project is known again elsewhere; the last one counts.
    Project(Box<ProjectMarks>),
    /// The user named a permission level; it is the ceiling from here on.
    Permissions {
        /// The level.
        ceiling: Permissions,
    },
    /// An agent is about to be launched.
    Intent(Box<Intent>),
    /// The agent named its session.
    Session(AgentSession),
    /// A session's pin, whole, in its newest state.
    Pin(Box<Pin>),
    /// A turn ended.
    Receipt(Box<Receipt>),
    /// A message was edited; its turn has a new revision.
    Amendment {
        /// The message.
        target: MessageId,
        /// Its new parts.
        parts: Vec<Part>,
    },
    /// The head was moved; the next turn starts a branch there.
    Head {
        /// The turn, by any of its messages; null for before the first.
        to: Option<MessageId>,
        /// The branch that goes on there, if it has a name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        branch: Option<String>,
    },
    /// It begins with the path of another conversation.
    Forked {
        /// That conversation.
        conversation: ConversationId,
        /// The last turn they have in common.
        turn: TurnId,
    },
    /// The agent shortened its own memory.
    Compaction {
        /// Whose.
        agent: Agent,
        /// What it said.
        text: String,
    },
    /// Something is known to be missing here.
    Gap {
        /// Whose session.
        agent: Agent,
        /// Its id.
        session: String,
        /// What is missing.
        text: String,
    },
    /// A line of the agent that was not an event.
    Diagnostic {
        /// Which run of the turn.
        run: u32,
        /// Where it was printed.
        stream: crate::Stream,
        /// The line, cut.
        text: String,
    },
    /// The user was warned of something.
    Warning {
        /// A stable word.
        code: String,
        /// In words.
        text: String,
    },
    /// The agent asked something and waits. What became of it follows, or it was lost.
    Question(Box<Question>),
    /// A question was answered; the first answer stands.
    QuestionAnswered(QuestionAnswer),
    /// Somebody else than the one who runs a turn asks for something.
    Asked(Asked),
    /// The agent took a question back.
    QuestionWithdrawn {
        /// The agent's id of the question.
        question: String,
    },
}

/// What somebody asks of the process that runs a turn. It follows its journal and does it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Asked {
    /// To stop the turn.
    Cancel {
        /// Which turn.
        turn: TurnId,
    },
    /// To give this answer to the agent.
    Answer {
        /// Which turn.
        turn: TurnId,
        /// The answer.
        answer: QuestionAnswer,
    },
    /// Something a newer version knows.
    #[serde(other)]
    Unknown,
}

/// A session as its agent told of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AgentSession {
    /// Whose.
    pub agent: Agent,
    /// The agent's own id.
    pub session: String,
    /// The model it says it uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The agent's version, where it tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
}

/// What a conversation is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ConversationInfo {
    /// Version of the journal's format.
    pub schema: u32,
    /// The project (real path): names of journals may collide, this never does.
    pub project: String,
    /// The directory it lives in.
    pub dir: String,
    /// Which turns an agent should know.
    #[serde(default)]
    pub scope: Scope,
}

/// What is about to be done, written before anything is spawned.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Intent {
    /// Who will do it.
    pub agent: Agent,
    /// Which launch for this turn, from 1.
    pub run: u32,
    /// Which turn of its path it is, from 1; 0 in journals of older versions.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub number: usize,
    /// Resume or fresh, and why.
    pub plan: Decision,
    /// The model the user named, passed again on later turns of this agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The directory the user named for the agent's sessions, used again on later turns of this
    /// agent; empty for the agent's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_dir: Option<String>,
    /// Bytes that will be sent.
    pub bytes: usize,
    /// The agent does it because the limit of another one was reached; a turn that is cut has no receipt to tell it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stands_in: Option<StandIn>,
    /// The session's pin with `exposed` already moved, where its id is known beforehand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pin: Option<Pin>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl System {
    /// Version of the journal's format.
    pub const SCHEMA: u32 = 1;

    /// The subtype of records of what agents may do.
    pub(crate) const PERMISSIONS: &'static str = "permissions";

    /// Whether bytes that are no record may have been one of what agents may do. The two words stand
    /// apart in it, so that no single damage hides both.
    pub fn mentions_a_level(bytes: &[u8]) -> bool {
        let mentions = |word: &[u8]| bytes.windows(word.len()).any(|window| window == word);
        mentions(br#""ceiling""#) || mentions(br#""subtype":"permissions""#)
    }

    /// Whether records of this subtype are no use of a conversation: they say what it is, or label it.
    pub fn is_label(subtype: &str) -> bool {
        matches!(subtype, "conversation" | "title" | "tags" | "moved" | "project" | "asked")
    }

    /// Subtype and body as they stand in a record.
    pub fn write(&self) -> (Option<String>, Option<Value>) {
        let Ok(Value::Object(mut object)) = serde_json::to_value(self) else {
            return (None, None);
        };
        let subtype = object.remove("subtype").and_then(|name| name.as_str().map(str::to_owned));
        (subtype, object.remove("systemPayload"))
    }

    /// What a record says; `None` if it is none of rejoin's own, or of a kind this version does not know.
    pub fn of(record: &Record) -> Option<System> {
        static NONE: Value = Value::Null;
        let body = record.system_payload.as_ref().unwrap_or(&NONE);
        Body::read(record.subtype.as_ref()?, body)
    }

    /// Reads a body; `None` for what this version does not know.
    pub fn read(subtype: &str, payload: &str) -> Option<System> {
        let mut json = serde_json::Deserializer::from_str(payload);
        let system = Body::read(subtype, &mut json)?;
        json.end().ok()?;
        Some(system)
    }
}

/// A record's subtype and its body as the two fields that they were taken from: each body is parsed where it
/// stands, once.
struct Body<'a, D> {
    subtype: &'a str,
    payload: Option<D>,
    told: bool,
}

impl<'de, D: Deserializer<'de>> Body<'_, D> {
    fn read(subtype: &str, body: D) -> Option<System> {
        let body = Body { subtype, payload: Some(body), told: false };
        System::deserialize(MapAccessDeserializer::new(body)).ok()
    }
}

impl<'de, D: Deserializer<'de>> MapAccess<'de> for Body<'_, D> {
    type Error = D::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, D::Error> {
        let key = match (self.told, &self.payload) {
            (false, _) => "subtype",
            (true, Some(_)) => "systemPayload",
            (true, None) => return Ok(None),
        };
        seed.deserialize(StrDeserializer::new(key)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, D::Error> {
        if !std::mem::replace(&mut self.told, true) {
            return seed.deserialize(StrDeserializer::new(self.subtype));
        }
        let payload = self.payload.take().ok_or_else(|| D::Error::custom("a value without a key"))?;
        seed.deserialize(payload)
    }
}
