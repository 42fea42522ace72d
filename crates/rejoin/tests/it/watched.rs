//! Conversations that are watched from elsewhere.

use std::time::Duration;

use rejoin::{Change, Cursor, Error, Event, JournalError, NextEvents, Told, TurnError};

use super::Place;

#[test]
fn whoever_watches_sees_what_was_and_what_comes_and_goes_on_from_any_cursor() {
    let Some(place) = Place::new() else { return };
    let first = place.turn("hello MARK-a").conversation("talk").run(|_| {}).unwrap();
    let id = first.receipt().conversation.unwrap();
    let elsewhere = place.opened_again();
    let mut watch = elsewhere.watch(id, None).unwrap();
    let mut told = Vec::new();
    let mut until_result = |told: &mut Vec<(Cursor, Told)>| {
        loop {
            match watch.next_within(Duration::from_mins(1)).unwrap() {
                NextEvents::Events(happened) => {
                    let cursor = watch.cursor_behind(&happened).unwrap();
                    told.extend(happened.told.into_iter().map(|told| (cursor, told)));
                }
                other => panic!("{other:?}"),
            }
            if matches!(told.last(), Some((_, Told::Event(Event::Result { .. })))) {
                return;
            }
        }
    };
    until_result(&mut told);
    place.rejoin.view(&place.project(), "talk").unwrap().tag(&["kept".to_owned()], &[]).unwrap();
    let second = std::thread::scope(|scope| {
        let turn = place.turn("more").conversation("talk").start().unwrap();
        let seen = turn.events();
        let runner = scope.spawn(move || seen.collect::<Vec<_>>());
        until_result(&mut told);
        turn.join().unwrap();
        runner.join().unwrap()
    });
    let results = |events: &mut dyn Iterator<Item = &Event>| {
        events.filter(|event| matches!(event, Event::Result { .. })).cloned().collect::<Vec<_>>()
    };
    let all = results(&mut told.iter().filter_map(|(_, told)| match told {
        Told::Event(event) => Some(event),
        _ => None,
    }));
    assert_eq!(all.len(), 2);
    assert_eq!(all[1..], results(&mut second.iter()), "who ran it and who watched it were told the same");

    let words: Vec<&str> = told
        .iter()
        .filter_map(|(_, told)| match told {
            Told::Prompt(prompt) => Some(prompt.text.as_str()),
            Told::Changed(Change::Tags { .. }) => Some("a label"),
            _ => None,
        })
        .collect();
    assert_eq!(words, ["hello MARK-a", "a label", "more"], "what the user said and did is told, too");

    for at in 0..told.len() {
        let (cursor, _) = told[at];
        let rest: Vec<_> = told.iter().filter(|(other, _)| other.position() > cursor.position()).collect();
        let mut again = elsewhere.watch(id, Some(cursor)).unwrap();
        let mut seen = Vec::new();
        while let NextEvents::Events(happened) = again.next_within(Duration::ZERO).unwrap() {
            seen.extend(happened.told);
        }
        assert_eq!(seen, rest.into_iter().map(|(_, event)| event.clone()).collect::<Vec<_>>());
    }
}

#[test]
fn a_cursor_of_another_journal_is_an_error_and_no_guess() {
    let Some(place) = Place::new() else { return };
    let begin = |name| {
        let done = place.turn("hello").conversation(name).run(|_| {}).unwrap();
        done.receipt().conversation.unwrap()
    };
    let (one, other) = (begin("one"), begin("other"));
    let mut watch = place.rejoin.watch(one, None).unwrap();
    let NextEvents::Events(happened) = watch.next_within(Duration::from_mins(1)).unwrap() else { panic!() };
    let cursor = watch.cursor_behind(&happened).unwrap();
    let wrong = place.rejoin.watch(other, Some(cursor)).err();
    assert!(
        matches!(wrong, Some(Error::Turn(TurnError::Journal(JournalError::Diverged { .. })))),
        "{wrong:?}"
    );
}
