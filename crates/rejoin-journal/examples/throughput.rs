//! How fast the journal is here: `cargo run --release -p rejoin-journal --example throughput [directory]`.

use std::error::Error;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rejoin_core::{Content, ConversationId, ConversationInfo, Kind, MessageId, Part, Record, Scope, System};
use rejoin_journal::{FileStore, Store, Writer, find_by_session, load, messages};
use uuid::Uuid;

fn main() -> Result<(), Box<dyn Error>> {
    let parent = std::env::args_os().nth(1).map_or_else(std::env::temp_dir, PathBuf::from);
    let directory = parent.join(format!("rejoin-throughput-{}", Uuid::new_v4().simple()));
    let result = measure(&FileStore::new(&directory));
    std::fs::remove_dir_all(directory)?;
    result
}

fn measure(store: &FileStore) -> Result<(), Box<dyn Error>> {
    let small = new(store)?;
    append(store, "small, one by one", &batch(small, 200_000, 200), small, 1)?;
    let batched = new(store)?;
    append(store, "small, by ten", &batch(batched, 200_000, 200), batched, 10)?;
    let large = new(store)?;
    append(store, "1 MiB each", &batch(large, 400, 1 << 20), large, 1)?;
    serialise(&batch(large, 400, 1 << 20))?;
    synced(store)?;

    for (what, id) in [("small", small), ("large", large)] {
        let begun = Instant::now();
        let loaded = load(store, id)?;
        report(&format!("load, {what}"), loaded.conversation.tree.turns().len(), loaded.end, begun.elapsed());
        let turn = loaded.conversation.tree.turns().first().ok_or("no turn")?;
        let begun = Instant::now();
        let merged = messages(store, id, turn, usize::MAX)?;
        report(&format!("messages, {what}"), merged.messages.len(), turn.bytes as u64, begun.elapsed());
    }
    let bytes = store.list(None)?.iter().map(|listed| listed.bytes).sum();
    let begun = Instant::now();
    let found = find_by_session(store, "01a1e09c-6875-7203-a42d-c11166b3c878")?;
    report("find a session", found.len(), bytes, begun.elapsed());

    for _ in 0..2000 {
        let id = new(store)?;
        store.appender(id, Writer::Label)?.append(&batch(id, 2, 200))?;
    }
    let begun = Instant::now();
    let listed = store.list(None)?.len();
    report("list", listed, 0, begun.elapsed());
    Ok(())
}

fn append(
    store: &FileStore,
    what: &str,
    records: &[Record],
    id: ConversationId,
    by: usize,
) -> Result<(), Box<dyn Error>> {
    let mut appender = store.appender(id, Writer::Label)?;
    let begun = Instant::now();
    for batch in records.chunks(by) {
        appender.append(batch)?;
    }
    let took = begun.elapsed();
    let bytes = std::fs::metadata(store.path(id)?)?.len();
    report(&format!("append, {what}"), records.len(), bytes, took);
    Ok(())
}

/// What the disk has no part in.
fn serialise(records: &[Record]) -> Result<(), Box<dyn Error>> {
    let mut buffer = Vec::new();
    let mut bytes = 0;
    let begun = Instant::now();
    for record in records {
        buffer.clear();
        serde_json::to_writer(&mut buffer, record)?;
        bytes += buffer.len() as u64;
    }
    report("only as JSON, 1 MiB each", records.len(), bytes, begun.elapsed());
    Ok(())
}

fn synced(store: &FileStore) -> Result<(), Box<dyn Error>> {
    let id = new(store)?;
    let mut appender = store.appender(id, Writer::Label)?;
    let records = batch(id, 200, 200);
    let begun = Instant::now();
    for record in &records {
        appender.append(std::slice::from_ref(record))?;
        appender.sync()?;
    }
    let bytes = std::fs::metadata(store.path(id)?)?.len();
    report("append, small, synced", records.len(), bytes, begun.elapsed());
    Ok(())
}

fn report(what: &str, count: usize, bytes: u64, took: Duration) {
    let seconds = took.as_secs_f64();
    println!(
        "{what:24} {count:7} in {:8.1} ms: {:9.0} /s {:7.0} MB/s",
        seconds * 1e3,
        count as f64 / seconds,
        bytes as f64 / seconds / 1e6
    );
}

fn new(store: &FileStore) -> Result<ConversationId, Box<dyn Error>> {
    let id = ConversationId::new(Uuid::new_v4());
    let info = ConversationInfo {
        schema: System::SCHEMA,
        project: "/home/ann/app".into(),
        dir: "/home/ann/app".into(),
        scope: Scope::Shared,
    };
    let (subtype, system_payload) = System::Conversation(info.clone()).write();
    let first = Record { subtype, system_payload, ..record(id, None, Kind::System) };
    store.create(id, &info, &[first], Writer::Label)?;
    Ok(id)
}

/// Turns of ten messages, with text as agents write it.
fn batch(id: ConversationId, count: usize, bytes: usize) -> Vec<Record> {
    let line = "let answer = \"forty-two\"; // and a newline\n";
    let text = line.repeat(bytes.div_ceil(line.len()));
    let mut parent = None;
    let next = |at| {
        let kind = if at % 10 == 0 { Kind::User } else { Kind::Assistant };
        let mut record = record(id, parent, kind);
        record.message = Some(Content::model(vec![Part::text(&text[..bytes])]));
        parent = Some(record.uuid);
        record
    };
    (0..count).map(next).collect()
}

fn record(id: ConversationId, parent_uuid: Option<MessageId>, kind: Kind) -> Record {
    Record {
        uuid: MessageId::new(Uuid::new_v4()),
        parent_uuid,
        session_id: id,
        timestamp: "2026-11-15T20:00:00.000Z".into(),
        kind,
        cwd: "/home/ann/app".into(),
        version: "0.1.0".into(),
        git_branch: Some("main".into()),
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
