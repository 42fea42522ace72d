//! Logs that are no conversations, as every store promises them.

use std::io::Read;

use rejoin_journal::{FileStore, JournalError, LogKind, Mark, MemoryStore, Store};
use uuid::Uuid;

use crate::support::Disk;

fn on_a_file(check: fn(&dyn Store)) {
    let directory = tempfile::tempdir().unwrap();
    check(&FileStore::new(directory.path()));
}

fn in_memory(check: fn(&dyn Store)) {
    check(&MemoryStore::new());
}

macro_rules! every_store {
    ($($name:ident),* $(,)?) => {
        mod file {
            $(#[test] fn $name() { super::on_a_file(super::$name) })*
        }
        mod memory {
            $(#[test] fn $name() { super::in_memory(super::$name) })*
        }
    };
}

every_store! {
    what_was_appended_is_read,
    a_log_that_ends_in_a_line_says_so,
    no_list_takes_a_log_for_a_conversation,
}

const RUN: LogKind = LogKind::FlowRun;

fn bytes(store: &dyn Store, id: Uuid) -> Vec<u8> {
    let mut bytes = Vec::new();
    store.logs().read(RUN, id).unwrap().read_to_end(&mut bytes).unwrap();
    bytes
}

fn what_was_appended_is_read(store: &dyn Store) {
    let (id, logs) = (Uuid::from_u128(1), store.logs());
    assert_eq!(logs.ids(RUN).unwrap(), [] as [Uuid; 0]);
    assert!(logs.modified(RUN, id).is_none());
    assert!(matches!(logs.read(RUN, id).err(), Some(JournalError::Io { .. })));
    let mut end = logs.open(RUN, id).unwrap();
    assert_eq!(bytes(store, id), b"", "it is made");
    end.append(b"{\"one\":1}\n").unwrap();
    end.sync().unwrap();
    logs.open(RUN, id).unwrap().append(b"\xff\0two\n").unwrap();
    end.append(b"three\n").unwrap();
    assert_eq!(bytes(store, id), b"{\"one\":1}\n\xff\0two\nthree\n");
    logs.open(RUN, Uuid::from_u128(2)).unwrap();
    let mut ids = logs.ids(RUN).unwrap();
    ids.sort_unstable();
    assert_eq!(ids, [1, 2].map(Uuid::from_u128));
    assert!(logs.modified(RUN, id).is_some());
    assert!(logs.place(RUN, id).to_string_lossy().contains(&id.to_string()));
}

fn a_log_that_ends_in_a_line_says_so(store: &dyn Store) {
    let (id, logs) = (Uuid::from_u128(1), store.logs());
    let mut end = logs.open(RUN, id).unwrap();
    assert!(!end.is_torn());
    end.append(b"whole\nha").unwrap();
    assert!(logs.open(RUN, id).unwrap().is_torn());
    end.append(b"lf\n").unwrap();
    assert!(!logs.open(RUN, id).unwrap().is_torn());
}

fn no_list_takes_a_log_for_a_conversation(store: &dyn Store) {
    store.logs().open(RUN, Uuid::from_u128(1)).unwrap().append(b"{}\n").unwrap();
    assert_eq!(store.ids().unwrap(), []);
    assert_eq!(store.look(None).unwrap(), []);
    assert_eq!(store.list(None).unwrap(), []);
    assert_eq!(store.changes(&Mark::BEGINNING).unwrap().written, []);
}

/// As all versions before have kept them.
#[test]
fn the_log_of_a_run_lies_where_it_always_did() {
    let disk = Disk::new();
    let id = Uuid::from_u128(7);
    disk.store.logs().open(RUN, id).unwrap().append(b"x\n").unwrap();
    let path = disk.home.root().join("flows").join(format!("{id}.jsonl"));
    assert_eq!(std::fs::read(&path).unwrap(), b"x\n");
    assert_eq!(disk.store.logs().place(RUN, id), path);
}
