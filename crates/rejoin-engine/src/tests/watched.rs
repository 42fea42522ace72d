//! A conversation, watched by another process.

use std::sync::Arc;
use std::time::Duration;

use rejoin_agents::Answer;
use rejoin_core::Event;
use rejoin_journal::{Cursor, FileStore, JournalError, Locks, Store};

use super::handles::{EVENTFUL, story};
use super::scripted::Place;
use crate::{CancelWatch, ConversationWatch, Engine, NextEvents, TurnError, TurnHandle, WatchedEvents};

/// Two engines on one home that share nothing but its files, as two processes do.
fn two() -> (tempfile::TempDir, Place, Engine, Engine) {
    let home = tempfile::tempdir().unwrap();
    let mut place = Place::on(Arc::new(FileStore::new(home.path()))).keeping_sessions();
    place.leases = Arc::new(Locks::new(home.path().join("locks")));
    let runner = place.engine();
    place.store = Arc::new(FileStore::new(home.path()));
    let watcher = place.engine();
    (home, place, runner, watcher)
}

/// What it tells whoever started it, who answers what it asks.
fn see_through(turn: TurnHandle) -> Vec<Event> {
    let mut live = Vec::new();
    for event in turn.events() {
        if let Event::Question(question) = &event {
            turn.answer(&question.id, Answer::Text("tea".into()));
        }
        live.push(event);
    }
    turn.join().unwrap();
    live
}

/// All until so many turns have ended.
fn watch(watch: &mut ConversationWatch, turns: usize) -> Vec<(WatchedEvents, Cursor)> {
    let mut seen = Vec::new();
    let mut ended = 0;
    while ended < turns {
        let events = watch.next().unwrap().unwrap();
        ended += events.events().filter(|event| matches!(event, Event::Result { .. })).count();
        let cursor = watch.cursor_behind(&events).unwrap();
        seen.push((events, cursor));
    }
    seen
}

#[test]
fn another_process_sees_what_the_runner_saw_and_goes_on_from_every_cursor() {
    let (_home, place, runner, watcher) = two();
    let first = place.start(&runner, EVENTFUL);
    let mut watching = watcher.watch(place.id, None).unwrap();
    let (live, seen) = std::thread::scope(|threads| {
        let seen = threads.spawn(|| watch(&mut watching, 2));
        let mut live = see_through(first);
        let next = crate::Order { interactive: true, ..place.next(EVENTFUL) };
        live.extend(see_through(runner.start(next, CancelWatch::pair().unwrap().1).unwrap()));
        (live, seen.join().unwrap())
    });
    let events = |seen: &[(WatchedEvents, Cursor)]| -> Vec<Event> {
        seen.iter().flat_map(|(events, _)| events.events().cloned()).collect()
    };
    assert_eq!(story(events(&seen)), story(live));
    let turns: Vec<_> = seen.iter().map(|(events, _)| events.turn).collect();
    assert!(turns.is_sorted_by_key(|turn| *turn != turns[0]) && turns.first() != turns.last());

    assert!(seen.len() > 20);
    for (at, (_, cursor)) in seen.iter().enumerate() {
        let rest = &seen[at + 1..];
        let ends = events(rest).iter().filter(|event| matches!(event, Event::Result { .. })).count();
        let mut again = watcher.watch(place.id, Some(*cursor)).unwrap();
        assert_eq!(watch(&mut again, ends), rest, "from {at}");
        assert!(matches!(again.next_within(Duration::ZERO), Ok(NextEvents::Nothing)));
    }
}

#[test]
fn a_cursor_of_a_journal_that_went_another_way_is_told_and_a_journal_that_is_replaced_meanwhile_too() {
    let (_home, place, runner, watcher) = two();
    see_through(place.start(&runner, "echo say one; echo end"));
    let mut watching = watcher.watch(place.id, None).unwrap();
    let mut patient = watcher.watch(place.id, None).unwrap();
    watch(&mut patient, 1);
    let seen = watch(&mut watching, 1);
    let raw = |store: &dyn Store| {
        let mut text = String::new();
        store.files().unwrap().raw(place.id).unwrap().read_to_string(&mut text).unwrap();
        text
    };
    let text = raw(watcher.store());
    watcher.store().remove(place.id).unwrap();
    let error = watching.next_within(Duration::ZERO).unwrap_err();
    assert!(matches!(error, JournalError::NotFound { .. }), "{error:?}");
    assert!(watching.next().is_none(), "nothing comes after an error");

    // The same conversation, in which something else was said.
    see_through(place.start(&runner, "echo say two, and more than that; echo end"));
    assert_ne!(raw(watcher.store()), text);
    let error = patient.next_within(Duration::ZERO).unwrap_err();
    assert!(matches!(error, JournalError::Diverged { .. }), "{error:?}");
    for (_, cursor) in &seen {
        let refused = watcher.watch(place.id, Some(*cursor)).err();
        assert!(matches!(refused, Some(TurnError::Journal(JournalError::Diverged { .. }))), "{refused:?}");
    }
}

#[test]
fn a_watch_is_stopped_from_another_thread() {
    let (_home, place, runner, watcher) = two();
    see_through(place.start(&runner, "echo end"));
    let mut watching = watcher.watch(place.id, None).unwrap();
    watch(&mut watching, 1);
    let stopper = watching.stopper();
    std::thread::scope(|threads| {
        let waiting = threads.spawn(move || watching.next().is_none());
        stopper.wake();
        assert!(waiting.join().unwrap());
    });
}
