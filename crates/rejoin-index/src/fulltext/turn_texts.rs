//! The texts of a turn, as they stand after merging, without holding the whole turn in memory.

use std::collections::HashMap;

use rejoin_core::{ConversationId, Kind, Message, MessageId, Part, Turn};
use rejoin_journal::{JournalError, LONGEST_LINE, Store, messages};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::message_parts::{self, MessagePart};

/// Where a text comes from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum TextSource {
    /// The name of the conversation.
    Name,
    /// The user said it, or sent a file of this name along.
    User,
    /// The agent said it.
    Agent,
    /// The agent thought it.
    Thought,
    /// The agent called a tool with it.
    Call,
    /// A tool gave it back.
    Result,
}

impl TextSource {
    /// Whether it was said, not done.
    pub fn is_said(self) -> bool {
        matches!(self, TextSource::Name | TextSource::User | TextSource::Agent)
    }
}

/// One text of a turn.
pub(crate) struct TurnText<'a> {
    pub(crate) message: MessageId,
    pub(crate) source: TextSource,
    pub(crate) content: &'a str,
}

/// Hands out the texts of a turn, in no particular order. What tools were given and gave back goes
/// by at once; what was said comes in pieces and can be replaced, so it is kept to the end.
pub(crate) fn texts(
    store: &dyn Store,
    id: ConversationId,
    turn: &Turn,
    each: &mut dyn FnMut(TurnText<'_>),
) -> Result<(), JournalError> {
    if turn.revision > 0 {
        return amended_texts(store, id, turn, each);
    }
    let mut spoken: Vec<Message> = Vec::new();
    let mut known: HashMap<MessageId, usize> = HashMap::new();
    let mut held = 0;
    store.fetch(id, &turn.records, &mut |_, raw| {
        let Some(line) = raw.ok().and_then(|raw| message_parts::read(raw.json)) else { return };
        let Some(parts) = line.message else { return };
        let mut bytes = 0;
        let mut said = Vec::new();
        for part in parts {
            if let MessagePart::Text { text, .. } = &part {
                bytes += text.len();
            }
            said.push(pass(part, line.uuid, each));
        }
        let (id, kind) = (line.uuid, line.kind);
        let at = known.get(&id).copied();
        if at.is_none() && bytes == 0 {
            return;
        }
        let at = at.unwrap_or_else(|| {
            spoken.push(Message::new(id, kind));
            known.insert(id, spoken.len() - 1);
            spoken.len() - 1
        });
        spoken[at].merge(said, line.replaces);
        held += bytes;
        if held > LONGEST_LINE {
            hand_out(&mut spoken, each);
            known.clear();
            held = 0;
        }
    })?;
    hand_out(&mut spoken, each);
    Ok(())
}

/// An amendment takes back what stood before it, so such a turn is merged as a whole.
fn amended_texts(
    store: &dyn Store,
    id: ConversationId,
    turn: &Turn,
    each: &mut dyn FnMut(TurnText<'_>),
) -> Result<(), JournalError> {
    let mut merged = messages(store, id, turn, LONGEST_LINE)?.messages;
    for message in &mut merged {
        let id = message.id;
        message.parts = message.parts.drain(..).map(|part| pass(part.into(), id, each)).collect();
    }
    hand_out(&mut merged, each);
    Ok(())
}

/// Hands out what was done or sent along. What was said goes on; in place of the rest stands something that only
/// keeps the texts before and after it apart.
fn pass(part: MessagePart<'_>, message: MessageId, each: &mut dyn FnMut(TurnText<'_>)) -> Part {
    match &part {
        MessagePart::Call(text) => each(TurnText { message, source: TextSource::Call, content: text }),
        MessagePart::Result(text) => each(TurnText { message, source: TextSource::Result, content: text }),
        MessagePart::Attachment(name) => each(TurnText { message, source: TextSource::User, content: name }),
        MessagePart::Text { .. } | MessagePart::Other => {}
    }
    match part {
        MessagePart::Text { text, thought } => Part::Text { text: text.into_owned(), thought },
        _ => Part::Other(Value::Null),
    }
}

fn hand_out(spoken: &mut Vec<Message>, each: &mut dyn FnMut(TurnText<'_>)) {
    for message in spoken.drain(..) {
        for part in &message.parts {
            if let Part::Text { text, thought } = part {
                let source = match (thought, message.kind) {
                    (true, _) => TextSource::Thought,
                    (false, Kind::User) => TextSource::User,
                    (false, Kind::ToolResult) => TextSource::Result,
                    (false, _) => TextSource::Agent,
                };
                each(TurnText { message: message.id, source, content: text });
            }
        }
    }
}
