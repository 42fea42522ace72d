//! The real Claude Code.

use rejoin_testkit::{Lab, Outcome};

use super::TWO_TURNS;

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
