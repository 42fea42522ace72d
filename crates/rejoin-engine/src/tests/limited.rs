//! When an agent is past a limit.

use std::time::Duration;

use rejoin_core::{FailureClass, Outcome};

use super::scripted::Place;

const RETRY: &str = "while :; do echo 'retry rate_limit 429, attempt 1 of 10'; sleep 0.02; done";

fn place() -> Place {
    let mut place = Place::new();
    place.limits.idle = Some(Duration::from_secs(2));
    place.limits.limit_after = Some(Duration::from_millis(300));
    place.limits.grace = Duration::from_millis(100);
    place
}

#[test]
fn an_agent_that_only_retries_is_past_a_limit_after_a_while() {
    let ran = place().run(RETRY);
    let Outcome::Failed { class: FailureClass::Quota, message } = ran.outcome() else {
        panic!("{:?}", ran.outcome())
    };
    assert_eq!(message, "for 300 ms it was only told to try again later: rate_limit 429, attempt 1 of 10");
}

#[track_caller]
fn is_only_silent(place: &Place, script: &str) {
    let ran = place.run(script);
    assert!(matches!(ran.outcome(), Outcome::Timeout { .. }), "{:?}", ran.outcome());
}

#[test]
fn not_if_it_did_something_before() {
    is_only_silent(&place(), &format!("echo say first; {RETRY}"));
}

#[test]
fn nor_if_it_was_told_something_else() {
    is_only_silent(&place(), &RETRY.replace("rate_limit 429", "server_error 500"));
}

#[test]
fn nor_if_it_tries_again_only_once_and_is_silent_then() {
    is_only_silent(&place(), "echo 'retry rate_limit 429'; sleep 600");
}

#[test]
fn nor_if_nobody_wants_that() {
    let mut place = place();
    place.limits.limit_after = Some(Duration::ZERO);
    is_only_silent(&place, RETRY);
}
