//! rejoin inside another agent: its marks do not reach the one below.

use std::fs;

use super::stage::{Run, Stage};

on_both!(with_marks_in_the_environment, run_by_an_agent);

fn with_marks_in_the_environment(stage: &Stage) {
    let inside = |run: Run<'_>| {
        run.env("CLAUDECODE", "1")
            .env("CLAUDE_CODE_ENTRYPOINT", "cli")
            .env("CLAUDE_CODE_CHILD_SESSION", "1")
            .env("CLAUDE_CODE_SESSION_ID", "0b4d4c1e-6b7a-4c8e-9d52-d7a3bd36c0a1")
            .env("CLAUDE_CODE_SSE_PORT", "1")
            .env("CODEX_THREAD_ID", "019a8b8e-0000-7000-8000-000000000000")
            .env("CODEX_CI", "1")
            .env("CODEX_SANDBOX", "seatbelt")
            .env("CODEX_SANDBOX_NETWORK_DISABLED", "1")
            .go()
            .done()
    };
    let first = inside(stage.first("first MARK-one").with(["--permissions", "full"])).remembered(1, ["one"]);
    assert_eq!(stage.stored_sessions(stage.who).len(), 1);
    let second = inside(stage.next("second MARK-two TOOL-RUN [env]")).resumed(&first.session(), 0);
    let second = second.remembered(2, ["one", "two"]);
    let seen = second.events_of("tool_result")[0]["output"].as_str().unwrap();
    for foreign in ["0b4d4c1e-6b7a-4c8e", "019a8b8e-0000", "CODEX_SANDBOX=seatbelt", "CLAUDE_CODE_SSE_PORT"] {
        assert!(!seen.contains(foreign), "{foreign} in {seen}");
    }
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
