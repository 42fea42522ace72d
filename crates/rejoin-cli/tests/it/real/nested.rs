//! rejoin inside another agent: its marks do not reach the one below.

use std::fs;

use super::run::Run;
use super::stage::Stage;

on_both!(with_marks_in_the_environment, marks_do_not_come_through, run_by_an_agent);

/// As Claude and Codex leave them to the commands they run.
const MARKS: [(&str, &str); 8] = [
    ("CLAUDECODE", "1"),
    ("CLAUDE_CODE_ENTRYPOINT", "cli"),
    ("CLAUDE_CODE_CHILD_SESSION", "1"),
    ("CLAUDE_CODE_SESSION_ID", "0b4d4c1e-6b7a-4c8e-9d52-d7a3bd36c0a1"),
    ("CODEX_THREAD_ID", "019a8b8e-0000-7000-8000-000000000000"),
    ("CODEX_CI", "1"),
    ("CODEX_SANDBOX", "seatbelt"),
    ("CODEX_SANDBOX_NETWORK_DISABLED", "1"),
];

fn with_marks_in_the_environment(stage: &Stage) {
    let marked =
        |run: Run<'_>| MARKS.into_iter().fold(run, |run, (name, value)| run.env(name, value)).go().done();
    let first = marked(stage.first("first MARK-one")).remembered(1, ["one"]);
    assert_eq!(stage.stored_sessions(stage.who).len(), 1);
    marked(stage.next("second MARK-two")).resumed(&first.session(), 0).remembered(2, ["one", "two"]);
}

/// None of all the variables that are taken away comes through to the agent's own children.
fn marks_do_not_come_through(stage: &Stage) {
    let plan = stage.first("first MARK-one").with(["--dry-run", "-o", "json"]).plainly().assert_success();
    let plan: serde_json::Value = serde_json::from_str(&plan.stdout).unwrap();
    let taken: Vec<&str> =
        plan["removed_env"].as_array().unwrap().iter().filter_map(|name| name.as_str()).collect();
    assert!(MARKS.iter().all(|(name, _)| taken.contains(name)), "{taken:?}");
    let run = stage.first("first MARK-one TOOL-RUN [env]").with(["--permissions", "full"]);
    let turn = taken.iter().fold(run, |run, name| run.env(name, "of-the-outer-one")).go().done();
    let seen = turn.events_of("tool_result")[0]["output"].as_str().unwrap().to_owned();
    assert!(seen.contains("HOME=") && !seen.contains("of-the-outer-one"), "{seen}");
}

/// Claude runs rejoin as a tool, and rejoin runs an agent.
fn run_by_an_agent(stage: &Stage) {
    let (inner, who) = (stage.lab.project().join("inner.txt"), stage.who.name());
    fs::write(&inner, "inner MARK-inner").unwrap();
    let rejoin = env!("CARGO_BIN_EXE_rejoin");
    let command = format!("{rejoin} run -a {who} -s inside -f {}", inner.display());
    let outer = stage.run(&format!("outer MARK-outer TOOL-RUN [{command}]"));
    let outer = outer.with(["-a", "claude", "--permissions", "full"]).go().done();
    assert!(outer.answer().contains("SEEN n=1 marks=MARK-inner"), "{outer}");
    let again = stage.run("again MARK-again").with(["-s", "inside"]).go().done();
    let again = again.remembered(2, ["inner", "again"]);
    assert_eq!(again.receipt()["plan"]["decision"], "resume", "{again}");
}
