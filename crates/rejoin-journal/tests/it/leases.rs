//! What differs between places of leases.

use rejoin_journal::{
    JournalError, LeaseName, Leases, Locks, MemoryLeases, MemoryStore, Owner, Store, Writer,
};

use crate::support::{PROJECT, conversation, first, info, user};

fn owner(what: &str) -> Owner {
    Owner::this_process("rejoin", what, "20:15")
}

#[test]
fn a_stolen_lease_is_no_right_to_append() {
    let (leases, store, id) = (MemoryLeases::new(), MemoryStore::new(), conversation(1));
    let name = LeaseName::conversation(id);
    let lease = leases.acquire(&name, &owner("a turn"), None).unwrap();
    let mut end =
        store.create(id, &info(PROJECT), &[first(id, PROJECT)], Writer::holding([&lease], id)).unwrap();
    end.append(&[user(id, 1, None, "x")]).unwrap();
    leases.steal(&name);
    let thief = leases.acquire(&name, &owner("another"), None).unwrap();
    assert!(matches!(end.append(&[user(id, 2, None, "x")]), Err(JournalError::Fenced { .. })));
    drop(lease);
    assert_eq!(leases.holder(&name).unwrap(), Some(owner("another")), "the first one frees nothing any more");
    drop(thief);
    assert_eq!(leases.holder(&name).unwrap(), None);
}

#[test]
fn only_a_lock_of_a_file_has_a_descriptor() {
    let directory = tempfile::tempdir().unwrap();
    let file = Locks::new(directory.path().to_owned()).acquire("x", &owner("one"), None).unwrap();
    assert!(file.descriptor().is_some());
    let memory = MemoryLeases::new().acquire(&LeaseName::names(), &owner("one"), None).unwrap();
    assert!(memory.descriptor().is_none());
}
