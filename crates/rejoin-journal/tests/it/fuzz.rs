//! The journal's readers, fed with journals and what becomes of them when they are mangled.

use std::fs;

use rejoin_journal::{JournalFiles, Store, load, load_anew, messages};
use rejoin_testkit::fuzz::{corpus, fuzz};

use crate::support::{Disk, user};

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus");

/// Whatever stands in a journal, it can be read, and a turn that is appended can be read after it.
#[test]
fn journals() {
    let disk = Disk::new();
    fuzz(corpus(CORPUS), |bytes| {
        fs::write(disk.path(), bytes).unwrap();
        let loaded = load(&disk.store, disk.id).unwrap();
        let tree = &loaded.conversation.tree;
        for turn in tree.turns() {
            messages(&disk.store, disk.id, turn, 1000).unwrap();
            tree.path(Some(turn.id));
        }
        disk.store.list(None).unwrap();
        disk.append(&[user(disk.id, 777, None, "next")]);
        let after = load_anew(&disk.store, disk.id).unwrap().conversation;
        assert!(after.tree.turns().len() >= tree.turns().len());
        assert_eq!(&disk.bytes()[..bytes.len()], bytes, "append-only");
    });
}

/// A cached load is foreign bytes, too.
#[test]
fn cached_loads() {
    let disk = Disk::new();
    let text = "x".repeat(5 << 20);
    disk.append(&[user(disk.id, 1, None, &text), user(disk.id, 2, Some(1), "y")]);
    load(&disk.store, disk.id).unwrap();
    let cached = disk.store.cached_load(disk.id).unwrap();
    fuzz([cached], |bytes| {
        disk.store.keep_load(disk.id, bytes);
        let loaded = load(&disk.store, disk.id).unwrap();
        assert_eq!(loaded.conversation.tree.turns().len(), 2);
    });
}
