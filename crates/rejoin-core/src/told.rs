//! What a record tells to whoever draws a conversation: more than what happens in a turn that runs.

use serde::Serialize;

use crate::{Attachment, ConversationId, Event, Kind, MessageId, Part, Permissions, Record, System, TurnId};

/// Something a record tells.
#[derive(Clone, PartialEq, Debug)]
pub enum Told {
    /// The user said something: a turn begins.
    Prompt(Prompt),
    /// Something happened in a turn.
    Event(Event),
    /// The conversation itself was changed, between turns or beside them.
    Changed(Change),
}

/// What the user said.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Prompt {
    /// The turn that begins with it.
    pub turn: TurnId,
    /// The message it hangs on; none for the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<MessageId>,
    /// In these words.
    pub text: String,
    /// Files that go along.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
}

/// A change of a conversation.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Change {
    /// It got a name.
    Title {
        /// The name.
        name: String,
    },
    /// It was labelled, or a label was taken off.
    Tags {
        /// New labels.
        add: Vec<String>,
        /// Labels it had.
        remove: Vec<String>,
    },
    /// The next turn goes on elsewhere.
    Head {
        /// Behind the turn of this message; null for before the first.
        to: Option<MessageId>,
        /// The branch that goes on there, if it has a name.
        #[serde(skip_serializing_if = "Option::is_none")]
        branch: Option<String>,
    },
    /// A message was edited.
    Amendment {
        /// Which.
        target: MessageId,
        /// Its new parts.
        parts: Vec<Part>,
    },
    /// The user named a permission level.
    Permissions {
        /// The level.
        ceiling: Permissions,
    },
    /// Its project lies elsewhere now.
    Moved {
        /// The project (real path).
        project: String,
        /// The directory the conversation lives in.
        dir: String,
    },
    /// It begins with the path of another conversation.
    Forked {
        /// That conversation.
        conversation: ConversationId,
        /// The last turn they have in common.
        turn: TurnId,
    },
}

impl Told {
    /// What a record tells that is no event of a turn.
    pub(crate) fn beside_events(record: &Record) -> Option<Self> {
        match record.kind {
            Kind::User => Some(Told::Prompt(Prompt::of(record))),
            Kind::System => Change::of(record).map(Told::Changed),
            Kind::Assistant | Kind::ToolResult | Kind::Unknown => None,
        }
    }
}

impl Prompt {
    fn of(record: &Record) -> Self {
        let mut prompt = Self {
            turn: record.uuid,
            parent: record.parent_uuid,
            text: String::new(),
            attachments: Vec::new(),
        };
        for part in record.message.iter().flat_map(|content| &content.parts) {
            match part {
                Part::Text { text, .. } => prompt.text.push_str(text),
                Part::Attachment { attachment } => prompt.attachments.push(attachment.clone()),
                Part::Call { .. } | Part::Response { .. } | Part::Other(_) => {}
            }
        }
        prompt
    }
}

impl Change {
    fn of(record: &Record) -> Option<Self> {
        // Most records of rejoin's own are no such change: their bodies are read once, by who tells them.
        let subtype = record.subtype.as_deref()?;
        if !["title", "tags", "head", "amendment", "permissions", "moved", "forked"].contains(&subtype) {
            return None;
        }
        Some(match System::of(record)? {
            System::Title { name } => Change::Title { name },
            System::Tags { add, remove } => Change::Tags { add, remove },
            System::Head { to, branch } => Change::Head { to, branch },
            System::Amendment { target, parts } => Change::Amendment { target, parts },
            System::Permissions { ceiling } => Change::Permissions { ceiling },
            System::Moved { project, dir } => Change::Moved { project, dir },
            System::Forked { conversation, turn } => Change::Forked { conversation, turn },
            _ => return None,
        })
    }
}
