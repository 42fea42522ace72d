//! What counts as silence.

use std::time::Duration;

use rejoin_agents::Answer;
use rejoin_core::{Event, Outcome};

use super::scripted::Place;

fn place(idle: Duration) -> Place {
    let mut place = Place::new();
    place.limits.idle = Some(idle);
    place.limits.grace = Duration::from_millis(100);
    place
}

/// Says a line for ever.
fn for_ever(line: &str) -> String {
    format!("while :; do {line}; sleep 0.02; done")
}

#[track_caller]
fn is_silent(script: &str) {
    let ran = place(Duration::from_millis(300)).run(script);
    let Outcome::Timeout { message } = ran.outcome() else { panic!("{:?}", ran.outcome()) };
    assert!(message.contains("nothing came from the agent"), "{message}");
}

#[test]
fn junk_is_no_sign_of_life() {
    is_silent(&for_ever("echo junk"));
    is_silent(&for_ever("echo '  '"));
    is_silent(&for_ever("echo noise >&2"));
}

#[test]
fn being_told_to_wait_is_no_sign_of_life() {
    is_silent(&for_ever("echo retry later"));
}

#[test]
fn a_line_that_is_known_and_says_nothing_is_one() {
    let mut place = place(Duration::from_secs(5));
    place.limits.turn = Some(Duration::from_millis(600));
    let ran = place.run(&for_ever("echo quiet"));
    let Outcome::Timeout { message } = ran.outcome() else { panic!("{:?}", ran.outcome()) };
    assert!(message.contains("the turn took longer"), "{message}");
}

#[test]
fn a_question_that_was_taken_back_is_no_excuse_for_silence() {
    // Whoever is asked takes longer than the agent: with the question open it would come to its end.
    let mut wait = |_: &crate::OpenQuestion<'_>| {
        std::thread::sleep(Duration::from_secs(4));
        Answer::Declined
    };
    let script = "echo ask q1; sleep 0.1; echo back q1; sleep 3; echo end";
    let ran = place(Duration::from_millis(300)).watch(script, |_| {}, Some(&mut wait));
    assert!(matches!(ran.outcome(), Outcome::Timeout { .. }), "{:?}", ran.outcome());
}

#[test]
fn an_agent_behind_a_paused_reader_is_not_silent() {
    let place = place(Duration::from_secs(1));
    let script = "line=$(head -c 65536 /dev/zero | tr '\\0' x); for i in $(seq 40); do echo \"say $line\"; done; echo end";
    let mut paused = false;
    let ran = place.watch(
        script,
        |event| {
            if matches!(event, Event::TextDelta { .. }) && !paused {
                paused = true;
                std::thread::sleep(Duration::from_millis(2500));
            }
        },
        None,
    );
    ran.completed();
}
