//! What goes over the wire: server-sent events, rendered once for all who watch.

use std::io::Write;

use bytes::Bytes;
use rejoin_core::{ConversationId, Event, MessageId, Told, TurnId};
use rejoin_journal::Cursor;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// Version of the envelope: it changes only when a reader would break.
const VERSION: u32 = 1;

/// Events that belong together: all that one record tells, or one that has no record.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    bytes: Bytes,
    /// Where the conversation's name in the line of the id begins.
    name_in_id: Option<usize>,
    /// What it is about, for whoever watches one turn.
    pub(crate) turn: Option<TurnId>,
    /// That turn begins with it.
    pub(crate) begins_turn: bool,
    /// That turn ends with it.
    pub(crate) ends_turn: bool,
    /// Where to go on behind it, if it stands in the journal.
    pub(crate) cursor: Option<Cursor>,
}

/// The length of `CONVERSATION@` in an id.
const NAME: usize = 37;

/// What a frame with a short text takes.
const ROOM: usize = 512;

/// What is around each event.
#[derive(Serialize)]
struct Envelope<'a, D> {
    v: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    conversation: Option<ConversationId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<TurnId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    turn: Option<TurnId>,
    time: &'a str,
    #[serde(rename = "type")]
    kind: &'a str,
    data: D,
}

/// A part of a message's text that need not stand in the journal yet.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(crate) struct Piece {
    pub(crate) message: MessageId,
    /// Bytes of the message's text before it.
    pub(crate) offset: usize,
    pub(crate) text: String,
}

impl Frame {
    /// All that a record tells. Its last event carries the id: whoever is cut off before it is told all of it anew.
    pub(crate) fn of_record(
        conversation: ConversationId,
        turn: Option<TurnId>,
        time: &str,
        told: &[Told],
        cursor: Cursor,
    ) -> Self {
        let (mut text, mut name_in_id) = (Vec::with_capacity(ROOM), None);
        for (at, one) in told.iter().enumerate() {
            if at + 1 == told.len() {
                text.extend_from_slice(b"id: ");
                name_in_id = Some(text.len());
                let _ = writeln!(text, "{conversation}@{cursor}");
            }
            let (kind, data) = kind_and_data(one);
            let seq = Some(cursor.position());
            let kind = kind.as_str();
            let envelope = Envelope {
                v: VERSION,
                conversation: Some(conversation),
                seq,
                run: turn,
                turn,
                time,
                kind,
                data,
            };
            write_event(&mut text, kind, &envelope);
        }
        let ends_turn = told.iter().any(|told| matches!(told, Told::Event(Event::Result { .. })));
        let begins_turn = told.iter().any(|told| matches!(told, Told::Prompt(_)));
        Self { bytes: exactly(text), name_in_id, turn, begins_turn, ends_turn, cursor: Some(cursor) }
    }

    /// A piece of text: `text_delta` for one that goes on, `partial` for one that stands for all behind its offset.
    pub(crate) fn of_piece(
        conversation: ConversationId,
        turn: TurnId,
        kind: &'static str,
        piece: &Piece,
    ) -> Self {
        Self::about(Some(conversation), Some(turn), kind, piece)
    }

    /// Something about the stream itself.
    pub(crate) fn of_stream(
        conversation: Option<ConversationId>,
        kind: &'static str,
        data: impl Serialize,
    ) -> Self {
        Self::about(conversation, None, kind, data)
    }

    fn about(
        conversation: Option<ConversationId>,
        turn: Option<TurnId>,
        kind: &'static str,
        data: impl Serialize,
    ) -> Self {
        let time = now();
        let mut text = Vec::with_capacity(ROOM);
        let envelope =
            Envelope { v: VERSION, conversation, seq: None, run: turn, turn, time: &time, kind, data };
        write_event(&mut text, kind, &envelope);
        Self {
            bytes: exactly(text),
            name_in_id: None,
            turn,
            begins_turn: false,
            ends_turn: false,
            cursor: None,
        }
    }

    /// Its bytes where ids name the conversation: one stream tells of several.
    pub(crate) fn among_others(self) -> Bytes {
        self.bytes
    }

    /// Its bytes in a stream of this conversation alone, whose ids are cursors. Two parts, because they are shared.
    pub(crate) fn alone(self) -> (Bytes, Option<Bytes>) {
        match self.name_in_id {
            None => (self.bytes, None),
            Some(at) => (self.bytes.slice(..at), Some(self.bytes.slice(at + NAME..))),
        }
    }

    /// How many bytes it has.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }
}

/// Now, as records have it.
fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

/// Without the room that was left to grow into: frames are kept.
fn exactly(text: Vec<u8>) -> Bytes {
    text.into_boxed_slice().into()
}

fn write_event(text: &mut Vec<u8>, kind: &str, envelope: &impl Serialize) {
    let _ = write!(text, "event: {kind}\ndata: ");
    // JSON in one line has no line break of its own; a value of ours always becomes one.
    let _ = serde_json::to_writer(&mut *text, envelope);
    text.extend_from_slice(b"\n\n");
}

/// The type of what is told, and its fields without it.
fn kind_and_data(told: &Told) -> (String, Value) {
    let (kind, data) = match told {
        Told::Prompt(prompt) => ("prompt", json!(prompt)),
        Told::Changed(change) => ("changed", json!(change)),
        Told::Event(event) => {
            let mut data = json!(event);
            let kind = data.as_object_mut().and_then(|fields: &mut Map<String, Value>| fields.remove("type"));
            let kind = kind.and_then(|kind| kind.as_str().map(str::to_owned)).unwrap_or_default();
            return (kind, data);
        }
    };
    (kind.to_owned(), data)
}

#[cfg(test)]
mod tests {
    use rejoin_core::Usage;
    use uuid::Uuid;

    use super::*;

    fn events() -> (ConversationId, Frame) {
        let conversation = ConversationId::new(Uuid::from_u128(1));
        let (turn, message) = (TurnId::new(Uuid::from_u128(2)), MessageId::new(Uuid::from_u128(3)));
        let told = [
            Told::Event(Event::TextDelta { message, offset: 0, text: "two\nlines".into() }),
            Told::Event(Event::Usage { usage: Usage::default(), cost: None }),
        ];
        let cursor = Cursor::new(4711, *b"identity", *b"digest of before");
        (conversation, Frame::of_record(conversation, Some(turn), "2026-01-01T00:00:00Z", &told, cursor))
    }

    #[test]
    fn only_the_last_event_of_a_record_has_an_id_and_no_text_breaks_a_line() {
        let (conversation, frame) = events();
        let cursor = frame.cursor.unwrap();
        let text = String::from_utf8(frame.among_others().to_vec()).unwrap();
        let events: Vec<Vec<&str>> =
            text.split_terminator("\n\n").map(|event| event.lines().collect()).collect();
        assert_eq!(events.len(), 2);
        assert_eq!((events[0][0], events[1][1]), ("event: text_delta", "event: usage"));
        assert_eq!(events[1][0], format!("id: {conversation}@{cursor}"));
        let data: Value = serde_json::from_str(events[0][1].strip_prefix("data: ").unwrap()).unwrap();
        assert_eq!(data["seq"], 4711);
        assert_eq!(data["run"], data["turn"]);
        assert_eq!(data["type"], "text_delta");
        assert_eq!(data["data"]["text"], "two\nlines");
        assert_eq!(data["data"].get("type"), None);
    }

    #[test]
    fn alone_in_a_stream_the_id_is_the_cursor() {
        let (conversation, frame) = events();
        let cursor = frame.cursor.unwrap();
        let among_others = String::from_utf8(frame.clone().among_others().to_vec()).unwrap();
        let (first, second) = frame.alone();
        let alone = String::from_utf8([first, second.unwrap()].concat()).unwrap();
        assert_eq!(alone, among_others.replace(&format!("id: {conversation}@"), "id: "));
        assert!(alone.contains(&format!("\nid: {cursor}\n")));
    }
}
