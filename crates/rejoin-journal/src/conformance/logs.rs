//! Logs that are no conversations, as every store promises them.

use rejoin_journal::{JournalError, Leases, LogKind, Mark, Store};
use uuid::Uuid;

const RUN: LogKind = LogKind::FlowRun;

fn bytes(store: &dyn Store, id: Uuid) -> Vec<u8> {
    let mut bytes = Vec::new();
    store.logs().read(RUN, id).unwrap().read_to_end(&mut bytes).unwrap();
    bytes
}

pub(super) fn what_was_appended_is_read(_: &dyn Leases, store: &dyn Store) {
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

pub(super) fn a_log_that_ends_in_a_line_says_so(_: &dyn Leases, store: &dyn Store) {
    let (id, logs) = (Uuid::from_u128(1), store.logs());
    let mut end = logs.open(RUN, id).unwrap();
    assert!(!end.is_torn());
    end.append(b"whole\nha").unwrap();
    assert!(logs.open(RUN, id).unwrap().is_torn());
    end.append(b"lf\n").unwrap();
    assert!(!logs.open(RUN, id).unwrap().is_torn());
}

pub(super) fn a_log_is_rewritten_as_a_whole_and_removed(_: &dyn Leases, store: &dyn Store) {
    let (id, logs) = (Uuid::from_u128(1), store.logs());
    logs.rewrite(RUN, id, b"made\n").unwrap();
    assert_eq!(bytes(store, id), b"made\n");
    logs.open(RUN, id).unwrap().append(b"and more\n").unwrap();
    logs.rewrite(RUN, id, b"other\n").unwrap();
    logs.open(RUN, id).unwrap().append(b"goes on\n").unwrap();
    assert_eq!(bytes(store, id), b"other\ngoes on\n");
    assert_eq!(logs.ids(RUN).unwrap(), [id], "no draft is taken for a log");
    assert!(logs.remove(RUN, id).unwrap());
    assert!(!logs.remove(RUN, id).unwrap());
    assert_eq!(logs.ids(RUN).unwrap(), [] as [Uuid; 0]);
}

pub(super) fn logs_of_one_kind_are_not_those_of_another(_: &dyn Leases, store: &dyn Store) {
    let (id, logs) = (Uuid::from_u128(1), store.logs());
    for (kind, text) in [(LogKind::FlowRun, "flow"), (LogKind::Queue, "queue"), (LogKind::Upload, "upload")] {
        assert_eq!(logs.ids(kind).unwrap(), [] as [Uuid; 0]);
        logs.open(kind, id).unwrap().append(text.as_bytes()).unwrap();
        assert_eq!(logs.ids(kind).unwrap(), [id]);
    }
    assert_eq!(bytes(store, id), b"flow");
}

pub(super) fn no_list_takes_a_log_for_a_conversation(_: &dyn Leases, store: &dyn Store) {
    store.logs().open(RUN, Uuid::from_u128(1)).unwrap().append(b"{}\n").unwrap();
    assert_eq!(store.ids().unwrap(), []);
    assert_eq!(store.look(None).unwrap(), []);
    assert_eq!(store.list(None).unwrap(), []);
    assert_eq!(store.changes(&Mark::BEGINNING).unwrap().written, []);
}
