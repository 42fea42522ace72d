//! Hubs on real journals.

use std::time::{Duration, Instant};

use rejoin::{Config, Helper, Rejoin};
use rejoin_core::{
    Content, ConversationId, ConversationInfo, Event, Kind, MessageId, Part, Record, Scope, TurnId,
};
use rejoin_journal::{Append, Cursor, Writer};
use uuid::Uuid;

use super::client::Client;
use crate::problem::Code;
use crate::stream::Hubs;
use crate::stream::channel::{Next, Reader};
use crate::stream::hub::Subscription;

const CONVERSATION: ConversationId = ConversationId::new(Uuid::from_u128(1));
const TURN: TurnId = TurnId::new(Uuid::from_u128(2));
const ANSWER: MessageId = MessageId::new(Uuid::from_u128(3));

fn record(kind: Kind, uuid: MessageId, text: &str, offset: usize) -> Record {
    let parent = (kind == Kind::Assistant).then_some(TURN);
    let json = serde_json::json!({
        "uuid": uuid, "parentUuid": parent, "sessionId": CONVERSATION, "timestamp": "2026-01-01T00:00:00.000Z",
        "type": kind, "cwd": "/p", "version": "0",
    });
    let mut record: Record = serde_json::from_value(json).unwrap();
    record.message = Some(Content::model(vec![Part::text(text)]));
    record.offset = (offset > 0).then_some(offset);
    record
}

/// A conversation in which a turn has begun.
fn begun() -> (tempfile::TempDir, Rejoin, Box<dyn Append>) {
    let home = tempfile::tempdir().unwrap();
    let rejoin = Rejoin::open_with(home.path(), Config::default(), Helper::Thread).unwrap();
    let info = ConversationInfo { schema: 1, project: "/p".into(), dir: "/p".into(), scope: Scope::Shared };
    let prompt = record(Kind::User, TURN, "go", 0);
    let journal = rejoin.store().create(CONVERSATION, &info, &[prompt], Writer::Label).unwrap();
    (home, rejoin, journal)
}

/// Takes all there is, and what comes until `enough`.
#[track_caller]
fn hear(hub: &Subscription, reader: &mut Reader, client: &mut Client, enough: impl Fn(&Client) -> bool) {
    let begun = Instant::now();
    while !enough(client) {
        assert!(begun.elapsed() < Duration::from_mins(1), "{client:#?}");
        match hub.next(reader) {
            Next::Tell(frame) => client.hear(frame),
            Next::Ready(partials) => client.hear_all(partials),
            Next::Wait => std::thread::sleep(Duration::from_millis(1)),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn text_of_our_own_turns_passes_before_the_journal_has_it_and_is_not_told_twice() {
    let (_home, rejoin, mut journal) = begun();
    let hubs = Hubs::default();
    let piece = |offset, text: &str| Event::TextDelta { message: ANSWER, offset, text: text.into() };
    hubs.live(CONVERSATION, TURN, &piece(0, "nobody hears it"));
    let hub = hubs.subscribe(&rejoin, CONVERSATION).unwrap();
    assert!(hubs.is_watched(CONVERSATION) && !hubs.inbox_watched());
    let (mut reader, mut client) = (Reader::new(0, Cursor::BEGINNING), Client::default());
    hear(&hub, &mut reader, &mut client, |client| client.types == ["prompt"]);
    hubs.live(CONVERSATION, TURN, &piece(0, "one "));
    hubs.live(CONVERSATION, TURN, &piece(4, "two"));
    hear(&hub, &mut reader, &mut client, |client| client.drawn().into_values().eq(["one two"]));
    assert_eq!((client.ids.len(), client.records.len()), (1, 1), "nothing of it stands in the journal");
    journal.append(&[record(Kind::Assistant, ANSWER, "one two, three", 0)]).unwrap();
    hear(&hub, &mut reader, &mut client, |client| client.ids.len() == 2);
    assert_eq!(client.drawn().into_values().collect::<Vec<_>>(), ["one two, three"]);
}

#[test]
fn a_hub_ends_some_time_after_its_last_reader_and_another_one_goes_on() {
    let (_home, rejoin, mut journal) = begun();
    let hubs = Hubs::default();
    let first = hubs.subscribe(&rejoin, CONVERSATION).unwrap();
    let second = hubs.subscribe(&rejoin, CONVERSATION).unwrap();
    drop(first);
    assert!(hubs.is_watched(CONVERSATION));
    drop(second);
    assert!(!hubs.is_watched(CONVERSATION));
    let begun = Instant::now();
    while hubs.count() > 0 {
        assert!(begun.elapsed() < Duration::from_mins(1), "it does not end");
        std::thread::sleep(Duration::from_millis(5));
    }
    journal.append(&[record(Kind::Assistant, ANSWER, "later", 0)]).unwrap();
    let hub = hubs.subscribe(&rejoin, CONVERSATION).unwrap();
    let (mut reader, mut client) = (Reader::new(0, Cursor::BEGINNING), Client::default());
    hear(&hub, &mut reader, &mut client, |client| client.drawn().into_values().eq(["later"]));
}

#[test]
fn so_many_streams_are_open_at_once_and_one_that_closes_makes_room() {
    let hubs = Hubs::default();
    let mut open = Vec::new();
    let full = loop {
        match hubs.take_slot() {
            Ok(slot) => open.push(slot),
            Err(problem) => break problem,
        }
        assert!(open.len() < 10_000, "there is no end of them");
    };
    assert_eq!((full.code(), open.len()), (Code::TooMany, hubs.open_streams()));
    open.pop();
    open.push(hubs.take_slot().unwrap());
    assert!(hubs.take_slot().is_err());
    drop(open);
    assert_eq!(hubs.open_streams(), 0);
}
