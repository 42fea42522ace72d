//! Short words for making journals.

use rejoin_core::{Content, ConversationId, ConversationInfo, Kind, MessageId, Part, Record, Scope, System};
use rejoin_journal::{Problem, Store};
use uuid::Uuid;

pub(crate) const PROJECT: &str = "/home/ann/app";

pub(crate) fn conversation(number: u128) -> ConversationId {
    ConversationId::new(Uuid::from_u128(0x4f1c_2a9e_0000_4000_8000_0000_0000_0000 + number))
}

pub(crate) fn message(number: u128) -> MessageId {
    MessageId::new(Uuid::from_u128(0x1000_0000_0000_4000_8000_0000_0000_0000 + number))
}

pub(crate) fn info(project: &str) -> ConversationInfo {
    ConversationInfo {
        schema: System::SCHEMA,
        project: project.to_owned(),
        dir: project.to_owned(),
        scope: Scope::Shared,
    }
}

pub(crate) fn record(id: ConversationId, number: u128, parent: Option<u128>, kind: Kind) -> Record {
    Record {
        uuid: message(number),
        parent_uuid: parent.map(message),
        session_id: id,
        timestamp: format!("2026-11-15T20:00:{:02}Z", number % 60),
        kind,
        cwd: PROJECT.to_owned(),
        version: "0.1.0".to_owned(),
        git_branch: None,
        subtype: None,
        message: None,
        replaces: None,
        offset: None,
        cost: None,
        tokens: None,
        model: None,
        tool_calls_metadata: Vec::new(),
        native: None,
        request: None,
        system_payload: None,
    }
}

pub(crate) fn user(id: ConversationId, number: u128, parent: Option<u128>, text: &str) -> Record {
    let content = Content::user(vec![Part::text(text)]);
    Record { message: Some(content), ..record(id, number, parent, Kind::User) }
}

pub(crate) fn assistant(id: ConversationId, number: u128, parent: u128, text: &str) -> Record {
    let content = Content::model(vec![Part::text(text)]);
    Record { message: Some(content), ..record(id, number, Some(parent), Kind::Assistant) }
}

pub(crate) fn system(id: ConversationId, number: u128, about: Option<u128>, system: &System) -> Record {
    let (subtype, system_payload) = system.write();
    Record { subtype, system_payload, ..record(id, number, about, Kind::System) }
}

pub(crate) fn first(id: ConversationId, project: &str) -> Record {
    system(id, 0, None, &System::Conversation(info(project)))
}

/// What a reader saw.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) records: Vec<Record>,
    pub(crate) places: Vec<u64>,
    pub(crate) problems: Vec<(u64, Option<u64>, Problem)>,
    pub(crate) end: u64,
}

impl Seen {
    pub(crate) fn ids(&self) -> Vec<MessageId> {
        self.records.iter().map(|record| record.uuid).collect()
    }
}

pub(crate) fn read(store: &dyn Store, id: ConversationId, from: u64) -> Seen {
    let mut seen = Seen::default();
    let end = store.read(id, from, &mut |entry| match entry.content {
        Ok(envelope) => {
            let record: Record = serde_json::from_str(entry.json).unwrap();
            assert_eq!(record.uuid, envelope.uuid);
            seen.records.push(record);
            seen.places.push(entry.place);
        }
        Err(problem) => seen.problems.push((entry.place, entry.line, problem)),
    });
    seen.end = end.unwrap();
    seen
}
