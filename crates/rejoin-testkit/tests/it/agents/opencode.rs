//! The real OpenCode.

use rejoin_testkit::{Lab, Outcome};
use serde_json::Value;

use super::{TWO_TURNS, close};

fn opencode(lab: &Lab, session: Option<&str>, prompt: &str) -> Outcome {
    let mut command = lab.command("opencode");
    command.args(["run", "--format", "json", "--dir"]).arg(lab.project());
    command.args(session.map(|_| "-s")).args(session);
    lab.run(&mut command, prompt).assert_success()
}

fn session(outcome: &Outcome) -> String {
    outcome.json_lines()[0]["sessionID"].as_str().unwrap().to_owned()
}

fn answer(outcome: &Outcome) -> String {
    let lines = outcome.json_lines();
    let stopped = |line: &Value| line["type"] == "step_finish" && line["part"]["reason"] == "stop";
    assert!(lines.iter().any(stopped), "{}", outcome.stdout);
    let said = lines.iter().filter(|line| line["type"] == "text");
    said.filter_map(|line| line["part"]["text"].as_str()).collect()
}

#[test]
fn opencode_remembers_its_first_turn() {
    let Some(lab) = Lab::require_real() else { return };
    let first = opencode(&lab, None, "first MARK-one");
    assert_eq!(answer(&first), "SEEN n=1 marks=MARK-one");
    let id = session(&first);
    let second = opencode(&lab, Some(&id), "second MARK-two");
    assert_eq!((session(&second), answer(&second)), (id, TWO_TURNS.to_owned()));
    // The title of the session is asked for too, on the agent's own behalf.
    assert_eq!(lab.model().calls().len(), 2, "{:?}", lab.model().requests());
    close(lab);
}

#[test]
fn opencode_runs_a_tool() {
    let Some(lab) = Lab::require_real() else { return };
    let echo = opencode(&lab, None, "MARK-one TOOL-ECHO hello");
    assert_eq!(answer(&echo), "SEEN n=1 marks=MARK-one tool=hello");
    assert_eq!(lab.model().calls().len(), 2, "{:?}", lab.model().requests());
    close(lab);
}
