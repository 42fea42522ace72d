//! The real Pi.

use rejoin_testkit::{Lab, Outcome};

use super::{TWO_TURNS, close};

fn pi(lab: &Lab, session: Option<&str>, prompt: &str) -> Outcome {
    let mut command = lab.command("pi");
    command.args(["--mode", "json"]).args(session.map(|_| "--session")).args(session);
    lab.run(&mut command, prompt).assert_success()
}

fn session(outcome: &Outcome) -> String {
    let first = &outcome.json_lines()[0];
    assert_eq!(first["type"], "session", "{}", outcome.stdout);
    first["id"].as_str().unwrap().to_owned()
}

fn answer(outcome: &Outcome) -> String {
    let end = outcome.json_lines().into_iter().rfind(|line| line["type"] == "agent_end").unwrap();
    let last = end["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(last["stopReason"], "stop", "{last}");
    last["content"][0]["text"].as_str().unwrap().to_owned()
}

#[test]
fn pi_remembers_its_first_turn() {
    let Some(lab) = Lab::require_real() else { return };
    let first = pi(&lab, None, "first MARK-one");
    assert_eq!(answer(&first), "SEEN n=1 marks=MARK-one");
    let id = session(&first);
    let second = pi(&lab, Some(&id), "second MARK-two");
    assert_eq!((session(&second), answer(&second)), (id, TWO_TURNS.to_owned()));
    assert_eq!(lab.model().calls().len(), 2, "{:?}", lab.model().requests());
    close(lab);
}

#[test]
fn pi_runs_a_tool() {
    let Some(lab) = Lab::require_real() else { return };
    let echo = pi(&lab, None, "MARK-one TOOL-ECHO hello");
    assert_eq!(answer(&echo), "SEEN n=1 marks=MARK-one tool=hello");
    assert_eq!(lab.model().calls().len(), 2, "{:?}", lab.model().requests());
    close(lab);
}
