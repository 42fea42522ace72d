//! The real Codex.

use rejoin_testkit::{Lab, Outcome};
use serde_json::Value;

use super::TWO_TURNS;

fn codex(lab: &Lab, session: Option<&str>, prompt: &str) -> Outcome {
    let mut command = lab.command("codex");
    command.args(["exec", "-s", "danger-full-access"]);
    command.args(session.map(|_| "resume")).args(["--json", "--skip-git-repo-check"]);
    lab.run(command.args(session).arg("-"), prompt).assert_success()
}

fn codex_thread(outcome: &Outcome) -> String {
    outcome.json_lines()[0]["thread_id"].as_str().unwrap().to_owned()
}

fn codex_answer(outcome: &Outcome) -> String {
    let lines = outcome.json_lines();
    assert!(lines.iter().any(|line| line["type"] == "turn.completed"), "{}", outcome.stdout);
    let said = |line: &&Value| line["item"]["type"] == "agent_message";
    lines.iter().rfind(said).unwrap()["item"]["text"].as_str().unwrap().to_owned()
}

#[test]
fn codex_remembers_its_first_turn() {
    let Some(lab) = Lab::require_real() else { return };
    let first = codex(&lab, None, "first MARK-one");
    assert_eq!(codex_answer(&first), "SEEN n=1 marks=MARK-one");
    let id = codex_thread(&first);
    let second = codex(&lab, Some(&id), "second MARK-two");
    assert_eq!(codex_thread(&second), id);
    assert_eq!(codex_answer(&second), TWO_TURNS);
    assert_eq!(lab.model().calls().len(), 2, "{:?}", lab.model().requests());
}

#[test]
fn codex_runs_a_tool() {
    let Some(lab) = Lab::require_real() else { return };
    let echo = codex(&lab, None, "MARK-one TOOL-ECHO hello");
    let answer = codex_answer(&echo);
    assert!(answer.starts_with("SEEN n=1 marks=MARK-one tool=") && answer.contains("hello"), "{answer}");
    let file = lab.project().join("new.txt");
    codex(&lab, Some(&codex_thread(&echo)), &format!("MARK-two TOOL-WRITE {}", file.display()));
    assert_eq!(std::fs::read_to_string(file).unwrap(), "written\n");
}
