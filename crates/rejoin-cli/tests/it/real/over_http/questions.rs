//! Claude asks in the middle of a turn, and is answered over HTTP.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use super::served::{Served, begun, next, resumed};
use crate::real::stage::Stage;

on_claude!(
    a_question_on_a_resumed_turn,
    leave_is_given_on_a_first_and_on_a_resumed_turn,
    leave_is_refused_on_a_resumed_turn,
    leave_is_not_given_below_a_ceiling
);

fn file(stage: &Stage) -> PathBuf {
    stage.lab.project().join("new.txt")
}

fn write_it(stage: &Stage, mark: &str) -> String {
    format!("MARK-{mark} TOOL-WRITE {}", file(stage).display())
}

fn a_question_on_a_resumed_turn(stage: &Stage) {
    let served = Served::start(stage);
    let first = served.first("first MARK-one").done();
    let session = first.session();
    let (second, question) = served.answered(next(&first, "second MARK-two ASKUSER"), "2");
    assert_eq!(
        (&question["text"], &question["options"][1]["label"]),
        (&"Which colour?".into(), &"Blue".into())
    );
    let second = second.done().resumed(&session, 0).remembered(2, ["one", "two"]);
    assert!(second.answer().contains("Blue"), "the model was told: {second}");
    let third = served.next(&first, "third MARK-three").done().resumed(&session, 0);
    let third = third.remembered(3, ["one", "two", "three"]);
    assert!(third.prompt_sent().contains("was already answered"), "{third}");
    assert_eq!(served.told_of_sessions(), [begun(&session), resumed(&session), resumed(&session)]);
}

fn leave_is_given_on_a_first_and_on_a_resumed_turn(stage: &Stage) {
    let served = Served::start(stage);
    let (first, question) = served.answered(served.wanted(&write_it(stage, "one")), "allow");
    assert!(
        question["options"].as_array().unwrap().iter().any(|option| option["id"] == "deny"),
        "{question}"
    );
    let first = first.done().fresh("first_turn", 0).remembered(1, ["one"]);
    assert_eq!(fs::read_to_string(file(stage)).unwrap(), "written\n");
    fs::remove_file(file(stage)).unwrap();
    let (second, _) = served.answered(next(&first, &write_it(stage, "two")), "allow");
    let second = second.done().resumed(&first.session(), 0).remembered(2, ["one", "two"]);
    assert!(!second.answer().contains("does not allow"), "{second}");
    assert_eq!(fs::read_to_string(file(stage)).unwrap(), "written\n");
    assert_eq!(served.told_of_sessions(), [begun(&first.session()), resumed(&first.session())]);
}

fn leave_is_refused_on_a_resumed_turn(stage: &Stage) {
    let served = Served::start(stage);
    let first = served.first("first MARK-one").done();
    let (second, _) = served.answered(next(&first, &write_it(stage, "two")), "deny");
    let second = second.done().resumed(&first.session(), 0).remembered(2, ["one", "two"]);
    assert!(second.answer().contains("does not allow"), "the model was told: {second}");
    assert!(!file(stage).exists(), "{second}");
    assert_eq!(served.told_of_sessions(), [begun(&first.session()), resumed(&first.session())]);
}

/// Whoever may not let agents do everything may refuse what they ask leave for, and not more.
fn leave_is_not_given_below_a_ceiling(stage: &Stage) {
    let served = Served::start(stage);
    let token = |name: &str, ceiling: &str| {
        let mut command = stage.rejoin();
        command.args(["token", "new", name, "--scope", "answer", "--ceiling", ceiling]);
        let made = stage.lab.run(&mut command, "").assert_success();
        format!("Bearer {}", made.stdout.trim())
    };
    let answer = |token: &str, path: &str, body| {
        served.daemon.ask_bare("POST", path).header("Authorization", token).json(&body).send()
    };
    let (edit, full) = (token("phone", "edit"), token("desk", "full"));
    let ask = |body, answer: &dyn Fn(&str)| served.answered_by(body, answer).0.done();
    let first = ask(served.wanted(&write_it(stage, "one")), &|path| {
        for given in [json!({ "options": ["allow"] }), json!({ "text": "allow" })] {
            assert_eq!(answer(&edit, path, given).is(403)["code"], "ceiling_exceeded");
        }
        answer(&edit, path, json!({ "options": ["deny"] })).is(200);
    });
    let first = first.remembered(1, ["one"]);
    let session = first.session();
    assert!(first.answer().contains("does not allow") && !file(stage).exists(), "{first}");
    // Words are a refusal, whatever they say.
    let second = ask(next(&first, &write_it(stage, "two")), &|path| {
        answer(&edit, path, json!({ "text": "Allowed!" })).is(200);
    });
    let second = second.resumed(&session, 0).remembered(2, ["one", "two"]);
    assert!(second.answer().contains("Allowed!") && !file(stage).exists(), "{second}");
    let third = ask(next(&first, &write_it(stage, "three")), &|path| {
        answer(&full, path, json!({ "options": ["allow"] })).is(200);
    });
    let third = third.resumed(&session, 0).remembered(3, ["one", "two", "three"]);
    assert!(file(stage).exists(), "{third}");
    assert_eq!(served.told_of_sessions(), [begun(&session), resumed(&session), resumed(&session)]);
}
