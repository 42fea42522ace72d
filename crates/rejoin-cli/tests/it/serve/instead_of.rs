//! `insteadOf` of `POST /runs`: a turn beside another one, going on from where that one did.

use serde_json::{Value, json};

use super::daemon::Daemon;
use super::runs::{next, over, text, wanted};
use crate::support::Bench;

/// Three turns of one conversation: their conversation and their ids.
fn three_turns(bench: &Bench, daemon: &Daemon<'_>) -> (Value, Vec<Value>) {
    let first = daemon.post("/api/v1/runs", &wanted(bench, "one MARK-a")).is(202);
    let mut turns = vec![first["turn"].clone()];
    over(daemon, &first["run"]);
    for prompt in ["two MARK-b", "three MARK-c"] {
        let taken = daemon.post("/api/v1/runs", &next(&first["conversation"], prompt)).is(202);
        assert_eq!(over(daemon, &taken["run"])["status"], "completed");
        turns.push(taken["turn"].clone());
    }
    (first["conversation"].clone(), turns)
}

fn beside(conversation: &Value, turn: &Value, prompt: &str) -> Value {
    json!({ "conversation": conversation, "insteadOf": turn, "prompt": prompt })
}

/// The path to the head: each turn's id with its siblings.
fn path(daemon: &Daemon<'_>, conversation: &Value) -> Vec<(Value, Value)> {
    let window = daemon.get(&format!("/api/v1/conversations/{}/turns", text(conversation))).is(200);
    let turns = window["turns"].as_array().unwrap();
    turns.iter().map(|turn| (turn["id"].clone(), turn["siblings"].clone())).collect()
}

#[test]
fn a_run_instead_of_a_turn_stands_beside_it_and_does_not_know_it() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let (conversation, turns) = three_turns(&bench, &daemon);
    let taken = daemon.post("/api/v1/runs", &beside(&conversation, &turns[1], "other MARK-d")).is(202);
    assert_eq!(taken["conversation"], conversation);
    let shown = over(&daemon, &taken["run"]);
    assert_eq!(shown["status"], "completed", "{shown}");
    assert!(bench.show().to_string().contains("SEEN n=1 marks=MARK-a,MARK-d"), "{}", bench.show());
    let both = json!([turns[1], taken["turn"]]);
    let expected = [(turns[0].clone(), Value::Null), (taken["turn"].clone(), both)];
    assert_eq!(path(&daemon, &conversation), expected);
    let tree = daemon.get(&format!("/api/v1/conversations/{}/tree", text(&conversation))).is(200);
    assert_eq!(tree["all"], 4, "nothing is taken away: {tree}");
}

#[test]
fn a_run_instead_of_the_first_turn_begins_the_conversation_anew() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let (conversation, turns) = three_turns(&bench, &daemon);
    // As a number of the path, too.
    for (of, mark) in [(&turns[0], "MARK-d"), (&json!("1"), "MARK-e")] {
        let taken = daemon.post("/api/v1/runs", &beside(&conversation, of, mark)).is(202);
        let shown = over(&daemon, &taken["run"]);
        assert_eq!((&shown["status"], &shown["sessionResumed"]), (&json!("completed"), &json!(false)));
        assert!(bench.show().to_string().contains(&format!("SEEN n=1 marks={mark}")), "{}", bench.show());
        let path = path(&daemon, &conversation);
        assert_eq!((path.len(), &path[0].0), (1, &taken["turn"]), "{path:?}");
        assert_eq!(path[0].1[0], turns[0], "{path:?}");
    }
}

#[test]
fn a_turn_that_is_not_there_has_none_beside_it() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let (conversation, turns) = three_turns(&bench, &daemon);
    let refused = |body: &Value, status: u16, code: &str, words: &str| {
        let problem = daemon.post("/api/v1/runs", body).is(status);
        assert_eq!(problem["code"], code, "{problem}");
        assert!(text(&problem["detail"]).contains(words), "{problem}");
    };
    for unknown in ["7d0f4a4e-56a1-4c8e-9a64-0d0c2f6b1111", "9", "no such branch"] {
        refused(&beside(&conversation, &json!(unknown), "x"), 404, "not_found", unknown);
    }
    let mut both = beside(&conversation, &turns[1], "x");
    both["checkpoint"] = turns[0].clone();
    refused(&both, 400, "bad_request", "insteadOf");
    let mut nowhere = wanted(&bench, "x");
    nowhere["insteadOf"] = turns[1].clone();
    refused(&nowhere, 422, "refused", "");
    assert_eq!(path(&daemon, &conversation).len(), 3, "nothing was run");
}
