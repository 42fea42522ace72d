//! Claude asks in the middle of a turn, and is answered over HTTP.

use std::fs;
use std::path::PathBuf;

use super::served::{Served, begun, next, resumed};
use crate::real::stage::Stage;

on_claude!(
    a_question_on_a_resumed_turn,
    leave_is_given_on_a_first_and_on_a_resumed_turn,
    leave_is_refused_on_a_resumed_turn
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
