//! Short words for making journals on a disk.

use std::fs;
use std::path::PathBuf;

use rejoin_core::{ConversationId, Record};
use rejoin_journal::{FileStore, Home, Store, Writer};
use tempfile::TempDir;

pub(crate) use crate::conformance::support::*;

/// A home of its own with one conversation, which has its first record.
pub(crate) struct Disk {
    _directory: TempDir,
    pub(crate) home: Home,
    pub(crate) store: FileStore,
    pub(crate) id: ConversationId,
}

impl Disk {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::open(directory.path().join("home")).unwrap();
        let (store, id) = (home.store(), conversation(0));
        store.create(id, &info(PROJECT), &[first(id, PROJECT)], Writer::Label).unwrap();
        Disk { _directory: directory, home, store, id }
    }

    pub(crate) fn append(&self, records: &[Record]) {
        self.store.appender(self.id, Writer::Label).unwrap().append(records).unwrap();
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.store.path(self.id).unwrap()
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        fs::read(self.path()).unwrap()
    }

    /// Puts bytes behind the end, as a foreign hand would.
    pub(crate) fn smear(&self, bytes: &[u8]) {
        let mut all = self.bytes();
        all.extend_from_slice(bytes);
        fs::write(self.path(), all).unwrap();
    }

    pub(crate) fn read(&self) -> Seen {
        read(&self.store, self.id, 0)
    }
}
