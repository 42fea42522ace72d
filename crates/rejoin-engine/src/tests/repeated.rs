//! Asked for twice is done once, if whoever asks says that it is the same.

use rejoin_core::{Kind, Outcome, RequestKey};

use super::scripted::Place;
use crate::{CancelWatch, Order, TurnError, TurnHandle};

/// An order with a key.
fn keyed(key: &str, digest: &str, order: Order) -> Order {
    Order { request: Some(RequestKey { key: key.into(), digest: digest.into() }), ..order }
}

fn start(place: &Place, order: Order) -> Result<TurnHandle, TurnError> {
    place.engine().start(order, CancelWatch::pair().unwrap().1)
}

fn prompts(place: &Place) -> usize {
    let mut prompts = 0;
    place
        .store
        .read(place.id, 0, &mut |entry| prompts += usize::from(entry.content.unwrap().kind == Kind::User))
        .unwrap();
    prompts
}

#[test]
fn a_request_that_was_made_already_is_answered_with_the_turn_that_stands() {
    let place = Place::new();
    let first = keyed("k \"1\"", "d1", place.order("until [ -e go ]; do sleep 0.01; done; echo end"));
    let first = start(&place, first).unwrap();

    let again = || start(&place, keyed("k \"1\"", "d1", place.next("echo end"))).err();
    let stands = |error: Option<TurnError>| match error {
        Some(TurnError::AlreadyAsked { key, conversation, turn }) => {
            assert_eq!((key.as_str(), conversation), ("k \"1\"", place.id));
            turn
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(stands(again()), first.turn(), "also while it runs");
    std::fs::write(place.path().join("go"), "").unwrap();
    let turn = first.turn();
    assert_eq!(*first.join().unwrap().outcome(), Outcome::Completed);
    assert_eq!(stands(again()), turn);
    // Begun anew under the id it had, it is the same conversation.
    assert_eq!(stands(start(&place, keyed("k \"1\"", "d1", place.order("echo end"))).err()), turn);
    assert_eq!(prompts(&place), 1);
}

#[test]
fn a_key_that_stands_for_something_else_is_refused() {
    let place = Place::new();
    let first = start(&place, keyed("k1", "d1", place.order("echo end"))).unwrap();
    let turn = first.turn();
    first.join().unwrap();
    let other = start(&place, keyed("k1", "d2", place.next("echo end"))).err();
    assert!(matches!(&other, Some(TurnError::KeyReused { turn: named, .. }) if *named == turn), "{other:?}");
    assert_eq!(prompts(&place), 1);
}

#[test]
fn another_key_and_none_at_all_are_other_requests_whatever_was_said() {
    let place = Place::new();
    // Words that look like the key are no key.
    let words = "echo '\"request\":{\"key\":\"k2\",\"digest\":\"d\"}'; echo end";
    start(&place, keyed("k1", "d", place.order(words))).unwrap().join().unwrap();
    start(&place, keyed("k2", "d", place.next(words))).unwrap().join().unwrap();
    start(&place, place.next("echo end")).unwrap().join().unwrap();
    assert_eq!(prompts(&place), 3);
    assert!(place.journal().lines().last().is_some_and(|line| !line.contains("\"request\"")));
}

#[test]
fn a_key_that_is_none_is_refused() {
    let place = Place::new();
    for key in ["", "a\nb", &"x".repeat(257)] {
        let refused = start(&place, keyed(key, "d", place.order("echo end"))).err();
        assert!(matches!(refused, Some(TurnError::Usage(_))), "{refused:?}");
    }
}
