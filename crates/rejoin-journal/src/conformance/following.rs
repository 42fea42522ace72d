//! What every store promises to those who follow it, run on each of them; and what only files can do to them.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rejoin_core::{ConversationId, MessageId};
use rejoin_journal::{
    Changes, Divergence, JournalError, Leases, Mark, MemoryStore, Problem, Store, Waker, Writer,
};

use super::support::{PROJECT, conversation, first, info, message, read, user};

const LONG: Duration = Duration::from_mins(1);
const SHORT: Duration = Duration::from_millis(30);

fn begin(store: &dyn Store, number: u128) -> ConversationId {
    let id = conversation(number);
    store.create(id, &info(PROJECT), &[first(id, PROJECT)], Writer::Label).unwrap();
    id
}

/// The records that a tail hands out, and where it ended.
fn tail(store: &dyn Store, id: ConversationId, from: u64, timeout: Duration) -> (Vec<MessageId>, u64) {
    let mut ids = Vec::new();
    let end = store.tail(id, from, timeout, &Waker::new(), &mut |entry| {
        ids.extend(entry.content.ok().map(|envelope| envelope.uuid));
        ControlFlow::Continue(())
    });
    (ids, end.unwrap())
}

pub(super) fn what_stands_there_is_handed_out_at_once(_: &dyn Leases, store: &dyn Store) {
    let id = begin(store, 1);
    let end = store.appender(id, Writer::Label).unwrap().append(&[user(id, 1, None, "x")]).unwrap();
    assert_eq!(tail(store, id, 0, LONG), (vec![message(0), message(1)], end));
    assert_eq!(tail(store, id, end, Duration::ZERO), (vec![], end));
}

pub(super) fn a_follower_stops_where_it_has_enough(_: &dyn Leases, store: &dyn Store) {
    let id = begin(store, 1);
    let records: Vec<_> = (1..10).map(|number| user(id, number, None, "x")).collect();
    store.appender(id, Writer::Label).unwrap().append(&records).unwrap();
    let mut from = 0;
    for number in 0..10 {
        let mut ids = Vec::new();
        let next = store.tail(id, from, LONG, &Waker::new(), &mut |entry| {
            ids.push(entry.content.unwrap().uuid);
            ControlFlow::Break(())
        });
        from = next.unwrap();
        assert_eq!(ids, [message(number)]);
        store.cursor(id, from).unwrap();
    }
}

pub(super) fn a_follower_waits_until_something_is_written(_: &dyn Leases, store: &dyn Store) {
    let id = begin(store, 1);
    let end = read(store, id, 0).end;
    thread::scope(|scope| {
        let follower = scope.spawn(|| tail(store, id, end, LONG));
        thread::sleep(SHORT);
        let mut appender = store.appender(id, Writer::Label).unwrap();
        let begun = Instant::now();
        let place = appender.append(&[user(id, 1, None, "x")]).unwrap();
        assert_eq!(follower.join().unwrap(), (vec![message(1)], place));
        assert!(begun.elapsed() < Duration::from_secs(5), "it takes {:?}", begun.elapsed());
    });
}

pub(super) fn a_wait_ends_when_the_time_is_up(_: &dyn Leases, store: &dyn Store) {
    let id = begin(store, 1);
    let end = read(store, id, 0).end;
    let begun = Instant::now();
    assert_eq!(tail(store, id, end, SHORT), (vec![], end));
    assert!(begun.elapsed() >= SHORT);
    let mark = store.changes(&Mark::BEGINNING).unwrap().mark;
    assert!(store.await_changes(&mark, SHORT, &Waker::new()).unwrap().is_empty());
}

pub(super) fn a_wait_ends_when_it_is_woken(_: &dyn Leases, store: &dyn Store) {
    let id = begin(store, 1);
    let end = read(store, id, 0).end;
    let mark = store.changes(&Mark::BEGINNING).unwrap().mark;
    let waker = Waker::new();
    let nothing = &|| store.tail(id, end, LONG, &waker, &mut |_| panic!()).unwrap();
    thread::scope(|scope| {
        let followers: Vec<_> = (0..3).map(|_| scope.spawn(nothing)).collect();
        let watcher = scope.spawn(|| store.await_changes(&mark, LONG, &waker).unwrap());
        thread::sleep(SHORT);
        waker.wake();
        for follower in followers {
            assert_eq!(follower.join().unwrap(), end);
        }
        assert!(watcher.join().unwrap().is_empty());
    });
    assert_eq!(nothing(), end, "and from then on");
}

pub(super) fn two_followers_see_all_that_a_writer_writes(_: &dyn Leases, store: &dyn Store) {
    const RECORDS: u128 = 200;
    let id = begin(store, 1);
    let follow = || {
        let (mut from, mut all) = (0, Vec::new());
        while all.len() <= RECORDS as usize {
            let (ids, end) = tail(store, id, from, LONG);
            assert!(!ids.is_empty() && end > from);
            // As somebody who comes back later.
            from = store.place(id, &store.cursor(id, end).unwrap()).unwrap();
            all.extend(ids);
        }
        all
    };
    thread::scope(|scope| {
        let followers = [scope.spawn(follow), scope.spawn(follow)];
        let (mut one, mut other) =
            (store.appender(id, Writer::Label).unwrap(), store.appender(id, Writer::Label).unwrap());
        for number in 1..=RECORDS {
            let end = if number % 3 == 0 { &mut other } else { &mut one };
            end.append(&[user(id, number, None, &"x".repeat(number as usize * 7))]).unwrap();
            if number % 50 == 0 {
                thread::sleep(Duration::from_millis(5));
            }
        }
        for follower in followers {
            assert_eq!(follower.join().unwrap(), (0..=RECORDS).map(message).collect::<Vec<_>>());
        }
    });
}

fn bytes(id: ConversationId, numbers: &[u128]) -> Vec<u8> {
    let store = MemoryStore::new();
    let mut end = store.create(id, &info(PROJECT), &[first(id, PROJECT)], Writer::Label).unwrap();
    for number in numbers {
        end.append(&[user(id, *number, None, "x")]).unwrap();
    }
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut store.files().unwrap().raw(id).unwrap(), &mut bytes).unwrap();
    bytes
}

fn adopt(store: &dyn Store, id: ConversationId, bytes: &[u8]) {
    store.adopt(id, &info(PROJECT), &mut { bytes }, &mut |_| Ok(())).unwrap();
}

pub(super) fn an_unfinished_line_is_nothing_until_it_is_sealed(_: &dyn Leases, store: &dyn Store) {
    let id = conversation(1);
    let whole = bytes(id, &[1]);
    adopt(store, id, &[&whole[..], b"{\"uuid\":\"1000"].concat());
    let end = whole.len() as u64;
    assert_eq!(tail(store, id, end, SHORT), (vec![], end));
    thread::scope(|scope| {
        let follower = scope.spawn(|| {
            let mut seen = Vec::new();
            let end = store.tail(id, end, LONG, &Waker::new(), &mut |entry| {
                seen.push(entry.content.map(|envelope| envelope.uuid));
                ControlFlow::Continue(())
            });
            (seen, end.unwrap())
        });
        thread::sleep(SHORT);
        let place = store.appender(id, Writer::Label).unwrap().append(&[user(id, 2, None, "x")]).unwrap();
        let (seen, end) = follower.join().unwrap();
        assert!(
            matches!(seen.as_slice(), [Err(Problem::Torn { .. }), Ok(id)] if *id == message(2)),
            "{seen:?}"
        );
        assert_eq!(end, place);
    });
}

pub(super) fn a_follower_goes_on_in_a_longer_version(_: &dyn Leases, store: &dyn Store) {
    let id = conversation(1);
    let short = bytes(id, &[1]);
    adopt(store, id, &short);
    thread::scope(|scope| {
        let follower = scope.spawn(|| tail(store, id, short.len() as u64, LONG));
        thread::sleep(SHORT);
        let long = bytes(id, &[1, 2, 3]);
        adopt(store, id, &long);
        assert_eq!(follower.join().unwrap(), (vec![message(2), message(3)], long.len() as u64));
    });
}

pub(super) fn a_follower_is_told_that_another_journal_took_the_place(_: &dyn Leases, store: &dyn Store) {
    let id = conversation(1);
    let one = bytes(id, &[1]);
    for (other, shorter) in [(bytes(id, &[]), true), (bytes(id, &[7, 8]), false)] {
        let told = (1..10).any(|patience| {
            adopt(store, id, &one);
            let end = one.len() as u64;
            let told = thread::scope(|scope| {
                let follow = || store.tail(id, end, LONG, &Waker::new(), &mut |_| ControlFlow::Continue(()));
                let follower = scope.spawn(follow);
                thread::sleep(SHORT * patience);
                store.remove(id).unwrap();
                adopt(store, id, &other);
                follower.join().unwrap()
            });
            store.remove(id).unwrap();
            match told {
                Err(JournalError::Diverged { why, .. }) => {
                    assert_eq!(matches!(why, Divergence::Shorter { .. }), shorter);
                    true
                }
                // It looked in between, or began too late to have seen the first one.
                Err(JournalError::NotFound { .. }) | Ok(_) => false,
                Err(other) => panic!("{other}"),
            }
        });
        assert!(told, "never told");
    }
}

pub(super) fn a_follower_is_told_that_the_journal_is_gone(_: &dyn Leases, store: &dyn Store) {
    let id = begin(store, 1);
    let end = read(store, id, 0).end;
    thread::scope(|scope| {
        let follower = scope.spawn(|| store.tail(id, end, LONG, &Waker::new(), &mut |_| panic!()));
        thread::sleep(SHORT);
        store.remove(id).unwrap();
        let told = follower.join().unwrap();
        assert!(matches!(told, Err(JournalError::NotFound { .. })), "{told:?}");
    });
}

fn written(changes: &Changes) -> Vec<ConversationId> {
    let mut ids: Vec<_> = changes.written.iter().map(|state| state.id).collect();
    ids.sort_unstable();
    ids
}

pub(super) fn changes_are_told_once(_: &dyn Leases, store: &dyn Store) {
    let [one, two, three] = [1, 2, 3].map(|number| begin(store, number));
    let all = store.changes(&Mark::BEGINNING).unwrap();
    assert!(all.whole && all.removed.is_empty());
    assert_eq!(written(&all), [one, two, three]);
    assert!(store.changes(&all.mark).unwrap().is_empty());
    store.appender(two, Writer::Label).unwrap().append(&[user(two, 1, None, "x")]).unwrap();
    let four = begin(store, 4);
    store.remove(three).unwrap();
    let some = store.changes(&all.mark).unwrap();
    assert_eq!((written(&some), &some.removed, some.whole), (vec![two, four], &vec![three], false));
    let carried: Mark = some.mark.to_string().parse().unwrap();
    assert!(store.changes(&carried).unwrap().is_empty());
    assert_eq!(written(&store.changes(&all.mark).unwrap()), [two, four], "others ask from where they are");
    begin(store, 3);
    let back = store.changes(&some.mark).unwrap();
    assert_eq!((written(&back), back.removed), (vec![three], vec![]));
}

pub(super) fn a_mark_of_another_run_is_answered_with_everything(_: &dyn Leases, store: &dyn Store) {
    let id = begin(store, 1);
    let other = MemoryStore::new();
    begin(&other, 9);
    let foreign = other.changes(&Mark::BEGINNING).unwrap().mark;
    let all = store.changes(&foreign).unwrap();
    assert!(all.whole);
    assert_eq!(written(&all), [id]);
    for text in ["", "x", "0-0-0", "00", &"0".repeat(1000)] {
        assert!(text.parse::<Mark>().is_err(), "{text}");
    }
}

pub(super) fn a_wait_for_changes_ends_with_one(_: &dyn Leases, store: &dyn Store) {
    let id = begin(store, 1);
    let mut mark = store.changes(&Mark::BEGINNING).unwrap().mark;
    let waker = Waker::new();
    let mut wait_for = |change: &(dyn Fn() + Sync)| {
        let changes = thread::scope(|scope| {
            let watcher = scope.spawn(|| store.await_changes(&mark, LONG, &waker).unwrap());
            thread::sleep(SHORT);
            change();
            watcher.join().unwrap()
        });
        mark = changes.mark;
        (written(&changes), changes.removed)
    };
    let append = || {
        store.appender(id, Writer::Label).unwrap().append(&[user(id, 1, None, "x")]).unwrap();
    };
    let another = || {
        begin(store, 2);
    };
    assert_eq!(wait_for(&append), (vec![id], vec![]));
    assert_eq!(wait_for(&append), (vec![id], vec![]));
    assert_eq!(wait_for(&another), (vec![conversation(2)], vec![]));
    assert_eq!(wait_for(&|| store.remove(id).unwrap()), (vec![], vec![id]));
    let elsewhere =
        || drop(store.create(id, &info("/other"), &[first(id, "/other")], Writer::Label).unwrap());
    assert_eq!(wait_for(&elsewhere), (vec![id], vec![]), "in a project that was not there");
}

pub(super) fn a_list_stays_true_while_somebody_writes(_: &dyn Leases, store: &dyn Store) {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..30_u128 {
                let id = begin(store, round);
                for number in 1..4 {
                    store
                        .appender(id, Writer::Label)
                        .unwrap()
                        .append(&[user(id, number, None, "x")])
                        .unwrap();
                }
                if round % 3 == 0 {
                    store.remove(id).unwrap();
                }
            }
            done.store(true, Ordering::SeqCst);
        });
        let mut known = std::collections::BTreeMap::new();
        let mut mark = Mark::BEGINNING;
        loop {
            let last = done.load(Ordering::SeqCst);
            let changes = if last {
                store.changes(&mark).unwrap()
            } else {
                store.await_changes(&mark, SHORT, &Waker::new()).unwrap()
            };
            known.retain(|id, _| !changes.removed.contains(id));
            known.extend(changes.written.iter().map(|state| (state.id, *state)));
            mark = changes.mark;
            if last {
                break;
            }
        }
        let mut there = store.look(None).unwrap();
        there.sort_unstable_by_key(|state| state.id);
        assert_eq!(known.into_values().collect::<Vec<_>>(), there);
    });
}
