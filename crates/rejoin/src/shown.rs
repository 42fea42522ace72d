//! A conversation as `rejoin show --json` and `rejoin export --format json` print it.

use std::collections::{BTreeMap, BTreeSet};

use rejoin_core::{
    Agent, ConversationId, ConversationInfo, Kind, Message, MessageId, Origin, Part, Permissions, Pin,
    Receipt, ToolCall, Turn, TurnId, TurnState, Usage,
};
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::error::cannot;
use crate::{ConversationView, Error, Redactor};

/// A conversation with some of its turns.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct ShownConversation {
    /// Its id.
    pub id: ConversationId,
    /// Its name, if it got one.
    pub name: Option<String>,
    /// Its labels.
    pub tags: BTreeSet<String>,
    /// The turn the next one goes on from.
    pub head: Option<TurnId>,
    /// The last turns of the branches that have a name.
    pub branches: BTreeMap<String, TurnId>,
    /// What it is; `None` if its first record is lost, and no other tells.
    pub info: Option<ConversationInfo>,
    /// The sessions of agents it knows of.
    pub pins: Vec<Pin>,
    /// Where it came from; an export does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<ShownOrigin>,
    /// The turns that were asked for.
    pub turns: Vec<ShownTurn>,
}

/// Where a conversation came from; of one from elsewhere, what was said about it here.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "from", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ShownOrigin {
    /// It was begun in this home, and nothing was added to it elsewhere.
    Here,
    /// All of it or a part was taken in, or nobody knows.
    Elsewhere {
        /// The level that was named last.
        permissions: Option<Permissions>,
        /// The directory it lives in.
        dir: Option<String>,
        /// The model that was named last, per agent.
        models: BTreeMap<Agent, String>,
        /// The directory for sessions that was named last, per agent.
        session_dirs: BTreeMap<Agent, String>,
    },
}

/// One prompt and all that was done about it.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct ShownTurn {
    /// Its id, which is its prompt's.
    pub id: TurnId,
    /// The turn before it.
    pub parent: Option<TurnId>,
    /// Who did it.
    pub agent: Option<Agent>,
    /// When it began, as the journal says (RFC 3339).
    pub started: String,
    /// How often it was amended.
    pub revision: u32,
    /// `completed`, `failed`, or `cut`.
    #[serde(serialize_with = "state_name")]
    pub state: TurnState,
    /// What was done; `None` while it runs, and for ever if rejoin was killed.
    pub receipt: Option<Receipt>,
    /// Its tokens: what the receipt says, else what was counted until it was cut.
    pub usage: Option<Usage>,
    /// What tools were called for, and what became of it.
    pub tool_calls: Vec<ToolCall>,
    /// What was said.
    pub messages: Vec<ShownMessage>,
}

/// What was said at once, by the user, an agent or a tool.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct ShownMessage {
    /// Its id.
    pub id: MessageId,
    /// Who speaks.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// When it was last written, as the journal says (RFC 3339).
    pub time: String,
    /// The model that wrote it, where known.
    pub model: Option<String>,
    /// Tokens of the turn, as far as they were counted when it was last written.
    pub tokens: Option<Usage>,
    /// Texts, calls, results, attachments.
    pub parts: Vec<Part>,
    /// What stood there before it was amended; absent if it never was, and in an export.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub original: Option<Vec<Part>>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn state_name<S: Serializer>(state: &TurnState, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match state {
        TurnState::Completed => "completed",
        TurnState::Failed => "failed",
        TurnState::Cut => "cut",
    })
}

impl ShownTurn {
    /// The turn without what was said in it.
    fn without_words(turn: &Turn) -> Self {
        Self {
            id: turn.id,
            parent: turn.parent,
            agent: turn.agent.clone(),
            started: turn.started.clone(),
            revision: turn.revision,
            state: turn.state(),
            receipt: turn.receipt.clone(),
            usage: turn.usage(),
            tool_calls: Vec::new(),
            messages: Vec::new(),
        }
    }
}

impl From<Message> for ShownMessage {
    fn from(message: Message) -> Self {
        let Message { id, kind, timestamp, model, tokens, parts, .. } = message;
        Self { id, kind, time: timestamp, model, tokens, parts, original: None }
    }
}

impl From<Origin> for ShownOrigin {
    fn from(origin: Origin) -> Self {
        match origin {
            Origin::Here => Self::Here,
            Origin::Elsewhere(said) => Self::Elsewhere {
                permissions: said.permissions,
                dir: said.dir,
                models: said.models,
                session_dirs: said.session_dirs,
            },
        }
    }
}

impl ConversationView<'_> {
    /// The conversation with some of its turns (those of [`path`](Self::path), say), as `rejoin show --json` prints it;
    /// texts longer than `limit` bytes (64 KiB there) are cut, visibly.
    pub fn shown(&self, turns: &[&Turn], limit: usize) -> Result<ShownConversation, Error> {
        let turns: Result<_, Error> = turns.iter().map(|turn| self.shown_turn(turn, limit)).collect();
        Ok(ShownConversation { origin: Some(self.origin()?.into()), turns: turns?, ..self.without_turns() })
    }

    /// One of its turns, for programs; longer texts are cut at `limit` bytes, visibly.
    pub fn shown_turn(&self, turn: &Turn, limit: usize) -> Result<ShownTurn, Error> {
        let messages = self.messages(turn, limit)?;
        let mut originals = self.original_wordings(turn, limit)?;
        let shown = |message: Message| ShownMessage {
            original: originals.remove(&message.id),
            ..ShownMessage::from(message)
        };
        Ok(ShownTurn {
            tool_calls: self.tool_calls(turn, &messages),
            messages: messages.into_iter().map(shown).collect(),
            ..ShownTurn::without_words(turn)
        })
    }

    fn without_turns(&self) -> ShownConversation {
        let conversation = self.conversation();
        let tree = &conversation.tree;
        ShownConversation {
            id: self.id(),
            name: conversation.name.clone(),
            tags: conversation.tags.clone(),
            head: tree.head().map(|turn| turn.id),
            branches: tree.branches().map(|(name, turn)| (name.to_owned(), turn.id)).collect(),
            info: self.info().cloned(),
            pins: conversation.pins.iter().cloned().collect(),
            origin: None,
            turns: Vec::new(),
        }
    }

    /// The path to the head as an export has it: nothing is cut, and with a redactor, what should not leave is
    /// taken out. That may leave what is no id or path any more, so it is no [`ShownConversation`].
    pub(crate) fn shown_for_export(&self, mut redactor: Option<&mut Redactor>) -> Result<Value, Error> {
        let mut whole = value_of(&self.without_turns())?;
        if let Some(redactor) = &mut redactor {
            redactor.value(&mut whole);
        }
        let turns = self.path().into_iter().map(|turn| self.turn_for_export(turn, redactor.as_deref_mut()));
        whole["turns"] = turns.collect::<Result<Vec<_>, _>>()?.into();
        Ok(whole)
    }

    fn turn_for_export(&self, turn: &Turn, redactor: Option<&mut Redactor>) -> Result<Value, Error> {
        let mut messages = self.messages(turn, usize::MAX)?;
        let mut whole = value_of(&ShownTurn::without_words(turn))?;
        if let Some(redactor) = redactor {
            redactor.value(&mut whole);
            // Before anything is made of them.
            for message in &mut messages {
                redactor.message(message);
            }
        }
        whole["tool_calls"] = value_of(&self.tool_calls(turn, &messages))?;
        let messages: Vec<ShownMessage> = messages.into_iter().map(ShownMessage::from).collect();
        whole["messages"] = value_of(&messages)?;
        Ok(whole)
    }
}

fn value_of(shown: &impl Serialize) -> Result<Value, Error> {
    serde_json::to_value(shown).map_err(|error| cannot("write the export")(error.into()))
}
