//! The real Gemini CLI.

use rejoin_testkit::{Lab, Outcome};

use super::{TWO_TURNS, close};

fn gemini(lab: &Lab, arguments: &[&str], prompt: &str) -> Outcome {
    let mut command = lab.command("gemini");
    // One process instead of a wrapper and a child.
    command.env("GEMINI_CLI_NO_RELAUNCH", "1").args(["--output-format", "stream-json"]);
    lab.run(command.args(arguments), prompt).assert_success()
}

fn session(outcome: &Outcome) -> String {
    let first = &outcome.json_lines()[0];
    assert_eq!(first["type"], "init", "{}", outcome.stdout);
    first["session_id"].as_str().unwrap().to_owned()
}

fn answer(outcome: &Outcome) -> String {
    let lines = outcome.json_lines();
    assert_eq!(lines.last().unwrap()["status"], "success", "{}", outcome.stdout);
    let said = lines.iter().filter(|line| line["type"] == "message" && line["role"] == "assistant");
    said.filter_map(|line| line["content"].as_str()).collect()
}

#[test]
fn gemini_remembers_its_first_turn() {
    let Some(lab) = Lab::require_real() else { return };
    let id = uuid::Uuid::new_v4().to_string();
    let first = gemini(&lab, &["--session-id", &id], "first MARK-one");
    assert_eq!((session(&first), answer(&first)), (id.clone(), "SEEN n=1 marks=MARK-one".to_owned()));
    let second = gemini(&lab, &["--resume", &id], "second MARK-two");
    assert_eq!((session(&second), answer(&second)), (id, TWO_TURNS.to_owned()));
    // The classifier that chooses a model asks too, on the agent's own behalf.
    assert_eq!(lab.model().calls().len(), 2, "{:?}", lab.model().requests());
    assert!(lab.model().requests().len() > 2);
    close(lab);
}

#[test]
fn gemini_runs_a_tool() {
    let Some(lab) = Lab::require_real() else { return };
    let echo = gemini(&lab, &["--approval-mode", "yolo"], "MARK-one TOOL-ECHO hello");
    let said = answer(&echo);
    assert!(said.starts_with("SEEN n=1 marks=MARK-one tool=") && said.contains("hello"), "{said}");
    assert_eq!(lab.model().calls().len(), 2, "{:?}", lab.model().requests());
    close(lab);
}
