//! What every place promises that leases are got from, and what stores make of their tokens, run on each of them.

use std::thread;
use std::time::{Duration, Instant};

use rejoin_journal::{JournalError, LeaseName, Leases, LockError, Owner, Store, Writer};

use super::support::{PROJECT, conversation, first, info, message, read, user};

const LONG: Option<Duration> = Some(Duration::from_mins(1));

fn owner(what: &str) -> Owner {
    Owner::this_process("rejoin", what, "20:15")
}

pub(super) fn one_holds_it_and_the_others_are_told_who(leases: &dyn Leases, _: &dyn Store) {
    let (name, other) = (LeaseName::names(), LeaseName::beginning_in("/p"));
    assert_eq!(leases.holder(&name).unwrap(), None);
    let lease = leases.acquire(&name, &owner("one"), None).unwrap();
    assert_eq!(lease.name(), &name);
    let refused = leases.acquire(&name, &owner("two"), None).unwrap_err();
    assert!(matches!(&refused, LockError::Busy { owner: Some(by), .. } if **by == owner("one")), "{refused}");
    let _free = leases.acquire(&other, &owner("three"), None).unwrap();
    lease.set_owner(&owner("still one")).unwrap();
    assert_eq!(leases.holder(&name).unwrap(), Some(owner("still one")));
    drop(lease);
    assert_eq!(leases.holder(&name).unwrap(), None);
    leases.acquire(&name, &owner("two"), None).unwrap().give_back();
    assert_eq!(leases.holder(&name).unwrap(), None);
}

pub(super) fn a_wait_ends_when_it_is_free(leases: &dyn Leases, _: &dyn Store) {
    let name = LeaseName::names();
    let lease = leases.acquire(&name, &owner("one"), None).unwrap();
    let begun = Instant::now();
    let short = Some(Duration::from_millis(100));
    assert!(matches!(leases.acquire(&name, &owner("two"), short), Err(LockError::Busy { .. })));
    assert!(begun.elapsed() >= Duration::from_millis(100));
    thread::scope(|scope| {
        let waiting = scope.spawn(|| leases.acquire(&name, &owner("two"), LONG).unwrap());
        thread::sleep(Duration::from_millis(50));
        drop(lease);
        assert_eq!(waiting.join().unwrap().name(), &name);
    });
}

pub(super) fn one_of_many_gets_it_at_a_time(leases: &dyn Leases, _: &dyn Store) {
    let name = LeaseName::names();
    let held = std::sync::Mutex::new(());
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..10 {
                    let lease = leases.acquire(&name, &owner("some"), LONG).unwrap();
                    drop(held.try_lock().unwrap());
                    drop(lease);
                }
            });
        }
    });
}

pub(super) fn what_a_killed_holder_left_is_told_to_the_next(leases: &dyn Leases, _: &dyn Store) {
    let name = LeaseName::names();
    let lease = leases.acquire(&name, &owner("one").marked("a"), None).unwrap();
    lease.add_mark("b").unwrap();
    drop(lease);
    let lease = leases.acquire(&name, &owner("two").marked("c"), None).unwrap();
    assert_eq!(lease.left(), ["a", "b"]);
    drop(lease);
    let mut lease = leases.acquire(&name, &owner("three"), None).unwrap();
    let mut left = lease.left().to_vec();
    left.sort_unstable();
    assert_eq!(left, ["a", "b", "c"], "nobody has seen to it yet");
    lease.nothing_is_left().unwrap();
    lease.give_back();
    let lease = leases.acquire(&name, &owner("four").marked("d"), None).unwrap();
    assert_eq!(lease.left(), &[] as &[String]);
    lease.give_back();
    assert_eq!(leases.acquire(&name, &owner("five"), None).unwrap().left(), &[] as &[String]);
}

pub(super) fn a_turn_appends_as_long_as_it_holds_the_lease(leases: &dyn Leases, store: &dyn Store) {
    let id = conversation(1);
    let name = LeaseName::conversation(id);
    store.create(id, &info(PROJECT), &[first(id, PROJECT)], Writer::Label).unwrap();
    for give_back in [true, false] {
        let before = read(store, id, 0);
        let lease = leases.acquire(&name, &owner("a turn"), None).unwrap();
        let writer = Writer::holding([&lease], id);
        assert!(matches!(&writer, Writer::Turn(token) if token.is_held() && *token.name() == name));
        let mut end = store.appender(id, writer.clone()).unwrap();
        end.append(&[user(id, 1, None, "x")]).unwrap();
        end.sync().unwrap();
        if give_back {
            lease.give_back();
        } else {
            drop(lease);
        }
        let fenced = |error: JournalError| matches!(error, JournalError::Fenced { .. });
        assert!(fenced(end.append(&[user(id, 2, None, "x")]).unwrap_err()));
        assert!(fenced(end.seal().unwrap_err()));
        assert!(store.appender(id, writer).err().is_some_and(fenced));
        // Whoever has it now is another one, and does not make the first one right again.
        let next = leases.acquire(&name, &owner("another turn"), None).unwrap();
        let error = end.append(&[user(id, 2, None, "x")]).unwrap_err();
        assert!(error.to_string().contains("nothing was written"), "{error}");
        store.appender(id, Writer::holding([&next], id)).unwrap().append(&[user(id, 3, None, "x")]).unwrap();
        assert_eq!(read(store, id, before.end).ids(), [message(1), message(3)]);
    }
}

pub(super) fn the_lease_on_something_else_is_no_right_to_append(leases: &dyn Leases, store: &dyn Store) {
    let (id, other) = (conversation(1), conversation(2));
    store.create(id, &info(PROJECT), &[first(id, PROJECT)], Writer::Label).unwrap();
    let lease = leases.acquire(&LeaseName::conversation(other), &owner("a turn"), None).unwrap();
    assert!(matches!(Writer::holding([&lease], id), Writer::Label));
    let refused = store.appender(id, Writer::Turn(lease.token().clone()));
    assert!(matches!(refused.err(), Some(JournalError::Fenced { .. })));
}

pub(super) fn a_label_is_appended_while_a_turn_runs(leases: &dyn Leases, store: &dyn Store) {
    let id = conversation(1);
    store.create(id, &info(PROJECT), &[first(id, PROJECT)], Writer::Label).unwrap();
    let lease = leases.acquire(&LeaseName::conversation(id), &owner("a turn"), None).unwrap();
    let mut turn = store.appender(id, Writer::holding([&lease], id)).unwrap();
    let mut label = store.appender(id, Writer::Label).unwrap();
    turn.append(&[user(id, 1, None, "x")]).unwrap();
    label.append(&[user(id, 2, None, "x")]).unwrap();
    turn.append(&[user(id, 3, None, "x")]).unwrap();
    drop(lease);
    label.append(&[user(id, 4, None, "x")]).unwrap();
    assert_eq!(read(store, id, 0).ids(), [0, 1, 2, 3, 4].map(message));
}

pub(super) fn a_conversation_is_begun_by_who_holds_its_lease(leases: &dyn Leases, store: &dyn Store) {
    let id = conversation(1);
    let lease = leases.acquire(&LeaseName::conversation(id), &owner("a turn"), None).unwrap();
    let writer = Writer::holding([&lease], id);
    drop(lease);
    let refused = store.create(id, &info(PROJECT), &[first(id, PROJECT)], writer);
    assert!(matches!(refused.err(), Some(JournalError::Fenced { .. })));
    assert_eq!(store.ids().unwrap(), []);
    let lease = leases.acquire(&LeaseName::conversation(id), &owner("a turn"), None).unwrap();
    let mut end =
        store.create(id, &info(PROJECT), &[first(id, PROJECT)], Writer::holding([&lease], id)).unwrap();
    end.append(&[user(id, 1, None, "x")]).unwrap();
    drop(lease);
    assert!(end.append(&[user(id, 2, None, "x")]).is_err());
}
