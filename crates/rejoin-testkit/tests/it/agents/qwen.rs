//! The real Qwen Code.

use rejoin_testkit::{Lab, Outcome};

use super::{TWO_TURNS, close};

fn qwen(lab: &Lab, arguments: &[&str], prompt: &str) -> Outcome {
    let mut command = lab.command("qwen");
    // One process instead of a wrapper and a child.
    command.env("QWEN_CODE_NO_RELAUNCH", "true").args(["--output-format", "stream-json"]);
    lab.run(command.args(arguments), prompt).assert_success()
}

fn session(outcome: &Outcome) -> String {
    let first = &outcome.json_lines()[0];
    assert_eq!(first["subtype"], "init", "{}", outcome.stdout);
    first["session_id"].as_str().unwrap().to_owned()
}

fn answer(outcome: &Outcome) -> String {
    let result = outcome.json_lines().into_iter().rfind(|line| line["type"] == "result").unwrap();
    result["result"].as_str().unwrap().to_owned()
}

#[test]
fn qwen_code_remembers_its_first_turn() {
    let Some(lab) = Lab::require_real() else { return };
    let id = uuid::Uuid::new_v4().to_string();
    let first = qwen(&lab, &["--session-id", &id], "first MARK-one");
    assert_eq!((session(&first), answer(&first)), (id.clone(), "SEEN n=1 marks=MARK-one".to_owned()));
    let second = qwen(&lab, &["--resume", &id], "second MARK-two");
    assert_eq!((session(&second), answer(&second)), (id, TWO_TURNS.to_owned()));
    // What to keep as a memory is asked too, on the agent's own behalf.
    assert_eq!(lab.model().calls().len(), 2, "{:?}", lab.model().requests());
    close(lab);
}

#[test]
fn qwen_code_runs_a_tool() {
    let Some(lab) = Lab::require_real() else { return };
    let echo = qwen(&lab, &["--approval-mode", "yolo"], "MARK-one TOOL-ECHO hello");
    let said = answer(&echo);
    assert!(said.starts_with("SEEN n=1 marks=MARK-one tool=") && said.contains("hello"), "{said}");
    assert_eq!(lab.model().calls().len(), 2, "{:?}", lab.model().requests());
    close(lab);
}
