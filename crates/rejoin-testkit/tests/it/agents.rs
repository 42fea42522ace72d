//! The real Claude Code and the real Codex talk to the scripted model and remember their first turn.

use rejoin_testkit::{Lab, Outcome};
use serde_json::Value;

const TWO_TURNS: &str = "SEEN n=2 marks=MARK-one,MARK-two";

fn claude(lab: &Lab, session: [&str; 2], prompt: &str) -> Outcome {
    let mut command = lab.command("claude");
    command.args([
        "-p",
        "--output-format",
        "stream-json",
        "--verbose",
        "--permission-mode",
        "bypassPermissions",
    ]);
    lab.run(command.args(session), prompt).assert_success()
}

fn claude_answer(outcome: &Outcome) -> String {
    let result = outcome.json_lines().into_iter().find(|line| line["type"] == "result").unwrap();
    assert_eq!(result["is_error"], false, "{result}");
    result["result"].as_str().unwrap().to_owned()
}

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
fn claude_code_remembers_its_first_turn() {
    let Some(lab) = Lab::require_real() else { return };
    let id = uuid::Uuid::new_v4().to_string();
    let first = claude(&lab, ["--session-id", &id], "first MARK-one");
    assert_eq!(claude_answer(&first), "SEEN n=1 marks=MARK-one");
    let second = claude(&lab, ["--resume", &id], "second MARK-two");
    assert_eq!(claude_answer(&second), TWO_TURNS);
    let calls = lab.model().calls();
    assert_eq!(calls.len(), 2, "{:?}", lab.model().requests());
    assert_eq!(calls[1].marks, ["MARK-one", "MARK-two"]);
}

#[test]
fn claude_code_runs_a_tool() {
    let Some(lab) = Lab::require_real() else { return };
    let id = uuid::Uuid::new_v4().to_string();
    let echo = claude(&lab, ["--session-id", &id], "MARK-one TOOL-ECHO hello");
    assert_eq!(claude_answer(&echo), "SEEN n=1 marks=MARK-one tool=hello");
    let file = lab.project().join("new.txt");
    claude(&lab, ["--resume", &id], &format!("MARK-two TOOL-WRITE {}", file.display()));
    assert_eq!(std::fs::read_to_string(file).unwrap(), "written\n");
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
