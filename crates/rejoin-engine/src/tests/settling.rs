//! An agent that says that its turn is over before it has stored it.

use rejoin_agents::Settles;
use rejoin_core::{Decision, Event, Outcome, Pin, Reason, System};

use super::pumped::eventually;
use super::scripted::Place;
use crate::{CancelWatch, TurnError, TurnHandle};
use std::time::Duration;

/// It names its session and ends; something of it goes on and stores the turn when it is told to.
const LATE: &str = "(until [ -e go ]; do sleep 0.01; done; rm go; echo '{\"a\":1}' >> sessions/s1) >/dev/null 2>&1 & \
                    echo session s1; echo say hello; echo end";
/// It never does.
const NEVER: &str = "echo session s1; echo say hello; echo end";

fn place() -> Place {
    let mut place = Place::new().keeping_sessions();
    place.agent.settles = Some(Settles::Afterwards);
    place
}

/// How its pin stands in the journal.
fn pin(place: &Place) -> Option<Pin> {
    place.notes().into_iter().rev().find_map(|note| match note {
        System::Pin(pin) => Some(*pin),
        _ => None,
    })
}

fn until_it_ended(turn: &TurnHandle) {
    assert!(turn.events().any(|event| matches!(event, Event::Result { .. })));
}

fn go(place: &Place) {
    std::fs::write(place.path().join("go"), "").unwrap();
}

fn plan_of_the_next(place: &Place, script: &str) -> Decision {
    let turn = place.engine().start(place.next(script), CancelWatch::pair().unwrap().1).unwrap();
    turn.join().unwrap().receipt().plan.clone()
}

#[test]
fn a_pin_says_that_the_session_holds_the_turn_when_the_store_shows_it_and_not_before() {
    let mut place = place();
    place.limits.settle = Duration::from_mins(1);
    let engine = place.engine();
    let turn = place.start(&engine, LATE);
    until_it_ended(&turn);
    assert_eq!(place.receipt().unwrap().outcome, Outcome::Completed, "the receipt does not wait");
    let ended = pin(&place).unwrap();
    assert_eq!((ended.seen.turns(), ended.exposed.turns(), ended.witness), (0, 1, None));
    assert!(!turn.is_over());
    let next = engine.start(place.next(NEVER), CancelWatch::pair().unwrap().1).err();
    assert!(matches!(next, Some(TurnError::Busy { .. })), "the conversation waits for it: {next:?}");

    go(&place);
    assert_eq!(*turn.join().unwrap().outcome(), Outcome::Completed);
    let settled = pin(&place).unwrap();
    assert_eq!((settled.seen, settled.witness.is_some()), (settled.exposed, true));
    place.limits.settle = Duration::ZERO;
    let plan = plan_of_the_next(&place, NEVER);
    assert!(matches!(&plan, Decision::Resume { session, catch_up: 0 } if session == "s1"), "{plan:?}");
}

#[test]
fn a_session_that_was_never_stored_is_not_resumed_and_the_next_turn_says_why() {
    let mut place = place();
    place.limits.settle = Duration::from_millis(50);
    place.run(NEVER).completed();
    assert_eq!(pin(&place).unwrap().seen.turns(), 0);
    let plan = plan_of_the_next(&place, NEVER);
    let Decision::Fresh { why: Reason::SessionUnconfirmed { session }, replayed: 1 } = &plan else {
        panic!("{plan:?}");
    };
    assert_eq!(session, "s1");
}

#[test]
fn a_turn_that_its_session_does_not_show_is_told_again() {
    let mut place = place();
    place.limits.settle = Duration::from_mins(1);
    let turn = place.start(&place.engine(), LATE);
    go(&place);
    turn.join().unwrap();
    eventually("nobody to be left", || !place.path().join("go").exists());

    place.limits.settle = Duration::from_millis(50);
    let plan = plan_of_the_next(&place, NEVER);
    assert!(matches!(plan, Decision::Resume { catch_up: 0, .. }), "{plan:?}");
    let plan = plan_of_the_next(&place, NEVER);
    assert!(matches!(plan, Decision::Resume { catch_up: 1, .. }), "{plan:?}");
}
