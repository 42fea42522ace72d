//! Short words for making journals and asking the index.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use rejoin_core::{
    Agent, Content, ConversationId, ConversationInfo, Decision, Kind, MessageId, Outcome, Part, Reason,
    Receipt, Record, Scope, System, Usage,
};
use rejoin_index::{ConversationFilter, ConversationList, Hits, Index, Query, Search, Stats, StatsFilter};
use rejoin_journal::{FileStore, Home, Store, Writer};
use tempfile::TempDir;
use uuid::Uuid;

pub(crate) const PROJECT: &str = "/home/ann/app";

pub(crate) fn conversation(number: u128) -> ConversationId {
    ConversationId::new(Uuid::from_u128(0x4f1c_2a9e_0000_4000_8000_0000_0000_0000 + number))
}

pub(crate) fn message(number: u128) -> MessageId {
    MessageId::new(Uuid::from_u128(0x1000_0000_0000_4000_8000_0000_0000_0000 + number))
}

/// A home with journals and a place for the index.
pub(crate) struct Disk {
    directory: TempDir,
    pub(crate) store: FileStore,
}

impl Disk {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let store = Home::open(directory.path().join("home")).unwrap().store();
        Self { directory, store }
    }

    pub(crate) fn cache(&self) -> PathBuf {
        self.directory.path().join("home/cache")
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.cache().join("index.sqlite")
    }

    /// A place where no index can be made.
    pub(crate) fn nowhere(&self) -> PathBuf {
        let path = self.directory.path().join("nowhere");
        fs::write(&path, "").unwrap();
        path.join("cache")
    }

    pub(crate) fn begin(&self, number: u128, project: &str) {
        let id = conversation(number);
        let info = ConversationInfo {
            schema: System::SCHEMA,
            project: project.to_owned(),
            dir: project.to_owned(),
            scope: Scope::Shared,
        };
        let first = system(id, None, &System::Conversation(info.clone()));
        self.store.create(id, &info, &[first], Writer::Label).unwrap();
    }

    pub(crate) fn append(&self, number: u128, records: &[Record]) {
        self.store.appender(conversation(number), Writer::Label).unwrap().append(records).unwrap();
    }

    /// A turn of `claude` in which this was said; numbers of messages are used up from `first` on.
    pub(crate) fn turn(&self, number: u128, first: u128, parent: Option<u128>, prompt: &str, answer: &str) {
        let id = conversation(number);
        let receipt = receipt(message(first), parent.is_some());
        self.append(
            number,
            &[
                said(id, first, parent, Kind::User, prompt),
                said(id, first + 1, Some(first), Kind::Assistant, answer),
                system(id, Some(first), &System::Receipt(Box::new(receipt))),
            ],
        );
    }

    pub(crate) fn path(&self, number: u128) -> PathBuf {
        self.store.path(conversation(number)).unwrap()
    }

    pub(crate) fn index(&self) -> Index<'_> {
        Index::open(&self.store, &self.cache())
    }

    pub(crate) fn found(&self, words: &[&str]) -> Vec<ConversationId> {
        hits(&mut self.index(), words, 1000).hits.iter().map(|hit| hit.conversation).collect()
    }
}

pub(crate) fn all(index: &mut Index<'_>) -> ConversationList {
    index.list(&ConversationFilter::default()).unwrap()
}

pub(crate) fn hits(index: &mut Index<'_>, words: &[&str], limit: usize) -> Hits {
    let query = Query::parse(words).unwrap();
    index
        .search(&Search {
            query: &query,
            project: None,
            also: &BTreeSet::new(),
            agent: None,
            tags: &[],
            limit,
        })
        .unwrap()
}

pub(crate) fn stats(index: &mut Index<'_>) -> Stats {
    let budget = |_: Option<&Agent>| 256 << 10;
    let by = Some(rejoin_index::Grouping::Agent);
    index.stats(&StatsFilter { project: None, since: None, by, then: None, budget: &budget }).unwrap()
}

pub(crate) fn record(id: ConversationId, uuid: MessageId, parent: Option<u128>, kind: Kind) -> Record {
    Record {
        uuid,
        parent_uuid: parent.map(message),
        session_id: id,
        timestamp: "2026-11-15T20:00:01.000Z".to_owned(),
        kind,
        cwd: PROJECT.to_owned(),
        version: "0.1.0".to_owned(),
        git_branch: Some("main".to_owned()),
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

pub(crate) fn parts(
    id: ConversationId,
    number: u128,
    parent: Option<u128>,
    kind: Kind,
    parts: Vec<Part>,
) -> Record {
    Record { message: Some(Content::model(parts)), ..record(id, message(number), parent, kind) }
}

pub(crate) fn said(id: ConversationId, number: u128, parent: Option<u128>, kind: Kind, text: &str) -> Record {
    parts(id, number, parent, kind, vec![Part::text(text)])
}

pub(crate) fn system(id: ConversationId, about: Option<u128>, system: &System) -> Record {
    let (subtype, system_payload) = system.write();
    Record { subtype, system_payload, ..record(id, MessageId::new(Uuid::new_v4()), about, Kind::System) }
}

pub(crate) fn receipt(turn: MessageId, resumed: bool) -> Receipt {
    let session = "0f6c1d1e-52a7-4c0e-9a51-3b8c1f0e7d21".to_owned();
    let plan = if resumed {
        Decision::Resume { session: session.clone(), catch_up: 0 }
    } else {
        Decision::Fresh { why: Reason::FirstTurn, replayed: 0 }
    };
    let mut receipt = Receipt::new(turn, Agent::Claude, plan, Outcome::Completed);
    (receipt.runs, receipt.bytes, receipt.milliseconds) = (1, 20, 10);
    receipt.session = Some(session);
    receipt.model = Some("opus".to_owned());
    receipt.usage = Some(Usage { input: 100, cached: 1000, output: 10 });
    receipt.cost = Some(0.5);
    receipt.exit_code = Some(0);
    receipt
}
