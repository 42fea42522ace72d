//! A flow on an agent that does not name its session and cannot list its sessions: OpenCode before `session list`.

use std::fs;

use super::{flow, marks, step};
use crate::support::{Bench, old_opencode};

const TWO: &str = "
steps:
  one: { agent: opencode, prompt: first MARK-a }
  two: { continue_from: one, prompt: second MARK-b }
";

fn bench() -> Bench {
    let bench = Bench::new();
    let command = serde_json::json!(old_opencode(&bench.lab.root()));
    bench.config(&format!("[agents.opencode]\ncommand = {command}\nmodel = \"a/b\"\n"));
    bench
}

#[test]
fn the_session_that_holds_the_first_prompt_goes_on() {
    let bench = bench();
    let run = flow(&bench, TWO).done().json();
    let (one, two) = (step(&run, "one"), step(&run, "two"));
    let session = one["receipt"]["session"].as_str().unwrap();
    assert_eq!(
        (&two["receipt"]["plan"]["decision"], &two["receipt"]["asked"]),
        (&"resume".into(), &session.into())
    );
    assert_eq!(marks(&two), "MARK-a,MARK-b");
    let runs = fs::read_to_string(bench.lab.home().join("runs")).unwrap();
    assert!(runs.lines().nth(1).unwrap().contains(&format!("--session={session}")), "{runs}");
    assert!(!runs.contains(" -c") && !runs.contains("--continue"), "never somebody else's session: {runs}");
}

#[test]
fn without_that_proof_the_history_is_replayed_and_the_reason_is_shown() {
    let bench = bench();
    let elsewhere = TWO.replace("MARK-a }", "MARK-a, env: { XDG_DATA_HOME: /nowhere } }");
    let said = flow(&bench, &elsewhere).done();
    said.tells(&["! one: the agent did not name its session: the next turn replays the history"]);
    let two = step(&said.json(), "two");
    assert_eq!(two["receipt"]["plan"]["reason"], "no_session");
    assert_eq!(two["receipt"]["plan"]["replayed"], 1);
    assert_eq!(marks(&two), "MARK-a,MARK-b");
}
