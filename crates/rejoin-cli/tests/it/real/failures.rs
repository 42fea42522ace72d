//! The model fails: the session is kept, and nothing the user said is lost.

use std::fs;

use serde_json::{Value, json};

use super::stage::Stage;
use super::turn::Turn;
use super::who::Who;

on_all!(
    a_bad_request: ["400 of the model"],
    a_rate_limit: ["429 of the model"],
    a_server_error: ["500 of the model"],
    a_first_turn_that_fails: ["failed first turn"],
);
on_both!(
    a_refused_key,
    a_stream_that_breaks,
    a_failure_that_is_retried,
    the_same_lasting_failure_twice,
    a_model_that_is_not_there
);

mod a_hook_that_blocks {
    played_by!(gemini, Gemini, a_hook_that_blocks);
}

/// A hook of the user's does not let the prompt pass, or stops the turn without a word: no fault of the session.
fn a_hook_that_blocks(stage: &Stage) {
    let session = stage.first("first MARK-one").go().done().session();
    let file = stage.store(stage.who).join("settings.json");
    let settings = fs::read_to_string(&file).unwrap();
    for (mark, answer) in [
        ("two", json!({"decision": "deny", "reason": "not today"})),
        ("three", json!({"continue": false, "stopReason": "not today"})),
    ] {
        let command = format!("echo '{answer}'");
        let mut with_a_hook: Value = serde_json::from_str(&settings).unwrap();
        with_a_hook["hooks"] = json!({"BeforeAgent": [{"hooks": [{"type": "command", "command": command}]}]});
        fs::write(&file, with_a_hook.to_string()).unwrap();
        let blocked = stage.next(&format!("next MARK-{mark}")).go().failed("setup");
        assert!(blocked.calls.is_empty(), "{blocked}");
    }
    fs::write(&file, settings).unwrap();
    let last = stage.next("last MARK-four").go().done().resumed(&session, 2);
    assert_eq!(
        last.calls.last().unwrap().marks,
        ["MARK-one", "MARK-two", "MARK-three", "MARK-four"],
        "{last}"
    );
}

/// One good turn, one that fails, one that goes on.
#[track_caller]
fn goes_on_after(stage: &Stage, word: &str, class: &str) {
    let session = stage.first("first MARK-one").go().done().session();
    let failed = stage.next(&format!("second MARK-two {word}")).go().failed(class).resumed(&session, 0);
    assert!(!failed.receipt()["error"].as_str().unwrap().is_empty(), "{failed}");
    let third = goes_on(stage, &session, "failed");
    let messages = if stage.who.keeps_failed_prompts_apart() { 3 } else { 2 };
    third.remembered(messages, ["one", "two", "three"]);
}

/// The third turn knows the first two, the second of which ended like that.
#[track_caller]
fn goes_on(stage: &Stage, session: &str, ended: &str) -> Turn {
    let third = stage.next("third MARK-three").go().done().resumed(session, 1);
    assert_eq!(third.calls.last().unwrap().marks, ["MARK-one", "MARK-two", "MARK-three"], "{third}");
    assert!(third.prompt_sent().contains("you may know this turn already"), "{third}");
    assert!(third.warnings("advanced").is_empty(), "nobody else was at it: {third}");
    let states =
        stage.show()["turns"].as_array().unwrap().iter().map(|t| t["state"].clone()).collect::<Vec<_>>();
    assert_eq!(states, ["completed", ended, "completed"]);
    third
}

fn a_bad_request(stage: &Stage) {
    goes_on_after(stage, "BAD400", "invalid_request");
}

/// What may pass is tried again, and an agent that never stops trying is stopped.
#[track_caller]
fn goes_on_after_what_may_pass(stage: &Stage, word: &str, class: &str) {
    if !stage.who.is_stubborn() {
        return goes_on_after(stage, word, class);
    }
    let session = stage.first("first MARK-one").go().done().session();
    let second = stage.next(&format!("second MARK-two {word}")).with(["--timeout", "20s"]).go();
    second.ended(3, "timeout").resumed(&session, 0);
    goes_on(stage, &session, "cut");
    stage.seen_differently("it tries again for minutes, so --timeout ended the turn");
}

fn a_server_error(stage: &Stage) {
    goes_on_after_what_may_pass(stage, "FAIL500", "server");
}

fn a_rate_limit(stage: &Stage) {
    goes_on_after_what_may_pass(stage, "RATE429", "rate_limit");
}

fn a_refused_key(stage: &Stage) {
    goes_on_after(stage, "AUTH401", "login");
}

fn a_first_turn_that_fails(stage: &Stage) {
    // What may pass would be tried again for minutes by some.
    let (word, class) =
        if stage.who.is_stubborn() { ("BAD400", "invalid_request") } else { ("RATE429", "rate_limit") };
    let first = stage.first(&format!("first MARK-one {word}")).go().failed(class);
    let second = stage.next("second MARK-two").go().done();
    if stage.who.keeps_a_failed_beginning() {
        second.resumed(&first.session(), 1).remembered(2, ["one", "two"]);
    } else {
        second.fresh("session_unconfirmed", 1).remembered(1, ["one", "two"]);
        stage.seen_differently("it keeps nothing of such a turn, so the history is replayed");
    }
}

/// Claude asks again without a word; Codex says that it does.
fn a_stream_that_breaks(stage: &Stage) {
    let session = stage.first("first MARK-one").go().done().session();
    let second = stage.next("second MARK-two CUT").go();
    let missed = usize::from(stage.who == Who::Codex);
    let second = if missed == 0 { second.done() } else { second.failed("network") };
    second.resumed(&session, 0);
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
    let second = if stage.who == Who::Claude {
        second.env("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    } else {
        second.for_the_agent("-cmodel_providers.scripted.base_url=\"http://127.0.0.1:9/v1\"")
    };
    second.go().failed("network").resumed(&session, 0);
    let third = stage.next("third MARK-three").go().done().resumed(&session, 1);
    assert_eq!(third.calls[0].marks, ["MARK-one", "MARK-two", "MARK-three"], "{third}");
}
