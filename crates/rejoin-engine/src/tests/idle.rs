//! What counts as silence.

use std::time::{Duration, Instant};

use rejoin_agents::Answer;
use rejoin_core::{Event, Outcome};

use super::pumped::Pumped;
use super::scripted::Place;
use crate::Limits;
use crate::during::launch_result::Verdict;

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

/// Long enough for a shell to be started and to say something on a busy machine.
const LIMIT: Duration = Duration::from_secs(2);

#[test]
fn an_agent_behind_a_paused_reader_is_not_silent() {
    let pumped = Pumped::new();
    let limits = Limits { idle: Some(LIMIT), grace: Duration::from_millis(100), ..Limits::default() };
    // A line of more than may wait for the watcher, and nothing after it.
    let script = "echo say first; printf 'say '; head -c 2000000 /dev/zero | tr '\\0' x; echo; sleep 600";
    let mut listened_to = Duration::ZERO;
    let verdict = pumped.run(script, &limits, |running| {
        running.until_nothing_is_read();
        running.hold(LIMIT + LIMIT / 10);
        let resumed = Instant::now();
        running.take_all();
        listened_to = resumed.elapsed();
    });
    assert!(matches!(verdict, Verdict::Ended(Outcome::Timeout { .. })), "{verdict:?}");
    assert!(listened_to > LIMIT / 2, "it was given {listened_to:?} to be heard");
}

#[test]
fn what_stands_in_the_pipe_was_said_however_long_it_took_to_look() {
    let place = place(LIMIT);
    // A line keeps us for longer than the limit, and meanwhile a call is made. Then it waits until that was heard.
    let script = "echo await $PWD/late; sleep 0.2; echo call 1; sleep 2.2; touch late; \
                  until [ -e heard ]; do sleep 0.02; done; printf 'result 1\nend\n'";
    let heard = place.path().join("heard");
    let hear = |event: &Event| {
        if matches!(event, Event::ToolUse { .. }) {
            std::fs::write(&heard, "").unwrap();
        }
    };
    place.watch(script, hear, None).completed();
}
