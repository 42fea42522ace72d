//! The model fails: the session is kept, and nothing the user said is lost.

use super::stage::{Stage, Who};
use super::turn::Turn;

on_both!(
    a_bad_request,
    a_server_error,
    a_rate_limit,
    a_refused_key,
    a_first_turn_that_fails,
    a_stream_that_breaks,
    a_failure_that_is_retried,
    the_same_lasting_failure_twice,
    a_model_that_is_not_there
);

/// One good turn, one that fails, one that goes on.
#[track_caller]
fn goes_on_after(stage: &Stage, word: &str, class: &str) -> Turn {
    let session = stage.first("first MARK-one").go().done().session();
    let failed = stage.next(&format!("second MARK-two {word}")).go().failed(class).resumed(&session, 0);
    assert!(!failed.receipt()["error"].as_str().unwrap().is_empty(), "{failed}");
    let third = stage.next("third MARK-three").go().done().resumed(&session, 1);
    // Claude hands a failed prompt on in one message with the next one.
    let messages = if stage.who == Who::Claude { 2 } else { 3 };
    let third = third.remembered(messages, ["one", "two", "three"]);
    assert!(third.prompt_sent().contains("you may know this turn already"), "{third}");
    assert!(third.warnings("advanced").is_empty(), "nobody else was at it: {third}");
    let states =
        stage.show()["turns"].as_array().unwrap().iter().map(|t| t["state"].clone()).collect::<Vec<_>>();
    assert_eq!(states, ["completed", "failed", "completed"]);
    failed
}

fn a_bad_request(stage: &Stage) {
    goes_on_after(stage, "BAD400", "invalid_request");
}

fn a_server_error(stage: &Stage) {
    goes_on_after(stage, "FAIL500", "server");
}

fn a_rate_limit(stage: &Stage) {
    goes_on_after(stage, "RATE429", "rate_limit");
}

fn a_refused_key(stage: &Stage) {
    goes_on_after(stage, "AUTH401", "login");
}

fn a_first_turn_that_fails(stage: &Stage) {
    let first = stage.first("first MARK-one RATE429").go().failed("rate_limit");
    let second = stage.next("second MARK-two").go().done().resumed(&first.session(), 1);
    second.remembered(2, ["one", "two"]);
}

/// Claude asks again without a word; Codex says that it does.
fn a_stream_that_breaks(stage: &Stage) {
    let session = stage.first("first MARK-one").go().done().session();
    let second = stage.next("second MARK-two CUT").go();
    match stage.who {
        Who::Claude => second.done().resumed(&session, 0),
        Who::Codex => second.failed("network").resumed(&session, 0),
    };
    let missed = usize::from(stage.who == Who::Codex);
    let third = stage.next("third MARK-three").go().done().resumed(&session, missed);
    third.remembered(3, ["one", "two", "three"]);
}

fn a_failure_that_is_retried(stage: &Stage) {
    let first = stage.first("first MARK-one ONCE500").go().done().remembered(1, ["one"]);
    assert_eq!(first.calls.len(), 2, "{first}");
}

/// A session that fails in the same lasting way twice is given up, its history is not.
fn the_same_lasting_failure_twice(stage: &Stage) {
    let session = stage.first("first MARK-one").go().done().session();
    stage.next("second MARK-two BAD400").go().failed("invalid_request").resumed(&session, 0);
    stage.next("third MARK-three BAD400").go().failed("invalid_request").resumed(&session, 1);
    let fourth = stage.next("fourth MARK-four").go().done().fresh("session_retired", 3);
    fourth.remembered(1, ["one", "two", "three", "four"]);
}

fn a_model_that_is_not_there(stage: &Stage) {
    let session = stage.first("first MARK-one").go().done().session();
    let second = stage.next("second MARK-two");
    let second = match stage.who {
        Who::Claude => second.env("ANTHROPIC_BASE_URL", "http://127.0.0.1:9"),
        Who::Codex => second.for_the_agent("-cmodel_providers.scripted.base_url=\"http://127.0.0.1:9/v1\""),
    };
    second.go().failed("network").resumed(&session, 0);
    let third = stage.next("third MARK-three").go().done().resumed(&session, 1);
    assert_eq!(third.calls[0].marks, ["MARK-one", "MARK-two", "MARK-three"], "{third}");
}
