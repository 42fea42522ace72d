//! Whatever stands in a journal, reading it ends, and ends well.

use std::fs;
use std::ops::ControlFlow;

use proptest::prelude::*;
use rejoin_core::{MessageId, System};
use rejoin_journal::{Store, find_by_session, load, messages};

use crate::support::{Disk, PROJECT, assistant, first, message, system, user};

thread_local! {
    /// Making a home syncs the disk: once per test is enough.
    static DISK: Disk = Disk::new();
}

/// A journal that holds these bytes.
fn holding<T>(bytes: &[u8], check: impl FnOnce(&Disk) -> T) -> T {
    DISK.with(|disk| {
        fs::write(disk.path(), bytes).unwrap();
        check(disk)
    })
}

fn read_everything(disk: &Disk) {
    let loaded = load(&disk.store, disk.id).unwrap();
    for turn in loaded.conversation.tree.turns() {
        messages(&disk.store, disk.id, turn, 100).unwrap();
        loaded.conversation.tree.path(Some(turn.id));
    }
    let again = disk.store.read(disk.id, loaded.end, &mut |_| ()).unwrap();
    assert_eq!(again, loaded.end, "a cursor stands still when nothing was added");
    disk.store.list(None).unwrap();
    disk.store.search(disk.id, "x", &mut |_| ControlFlow::Continue(())).unwrap();
    find_by_session(&disk.store, "x").unwrap();
}

fn ids(disk: &Disk) -> Vec<MessageId> {
    let mut ids = Vec::new();
    disk.store
        .read(disk.id, 0, &mut |entry| ids.extend(entry.content.map(|envelope| envelope.uuid)))
        .unwrap();
    ids
}

fn journal() -> Vec<u8> {
    holding(b"", |disk| {
        let id = disk.id;
        let amendment = System::Amendment { target: message(1), parts: Vec::new() };
        disk.append(&[
            first(id, PROJECT),
            user(id, 1, None, "question"),
            assistant(id, 2, 1, "answer"),
            assistant(id, 2, 1, " and more"),
            system(id, 3, Some(1), &amendment),
            system(id, 4, None, &System::Head { to: Some(message(1)), branch: None }),
            user(id, 5, Some(2), "next"),
        ]);
        disk.bytes()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        holding(&bytes, |disk| {
            read_everything(disk);
            disk.append(&[user(disk.id, 1, None, "x")]);
            assert!(ids(disk).contains(&message(1)));
        });
    }

    #[test]
    fn random_json_like_text_is_survived(text in r#"([{}\[\]",:\\ \n]|"uuid"|"type"|"user"|null|1e9|é){0,200}"#) {
        holding(text.as_bytes(), read_everything);
    }

    #[test]
    fn a_journal_with_random_changes_is_survived(
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>(), 0..3_u8), 1..12),
    ) {
        let mut bytes = journal();
        for (at, byte, how) in changes {
            let at = at.index(bytes.len());
            match how {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                _ => { bytes.remove(at); }
            }
        }
        holding(&bytes, |disk| {
            read_everything(disk);
            disk.append(&[user(disk.id, 9, None, "x")]);
            assert!(ids(disk).contains(&message(9)));
        });
    }
}
