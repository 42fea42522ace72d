//! What keeps a session from being resumed, one guard each.

use std::fs;

use super::served::{Served, begun, next, resumed};
use crate::real::stage::Stage;

on_claude!(
    nothing_is_in_the_way,
    another_agent_in_between,
    a_fresh_session_is_forced,
    another_directory,
    a_program_of_another_name,
    a_session_that_is_gone,
    a_session_that_claude_refuses,
    a_claude_that_cannot_resume
);

fn nothing_is_in_the_way(stage: &Stage) {
    let served = Served::start(stage);
    let first = served.first("first MARK-one").done().fresh("first_turn", 0).remembered(1, ["one"]);
    let session = first.session();
    for (prompt, marks) in
        [("second MARK-two", &["one", "two"][..]), ("third MARK-three", &["one", "two", "three"])]
    {
        let turn = served.next(&first, prompt).done().resumed(&session, 0).verbatim(prompt);
        let marks: Vec<String> = marks.iter().map(|mark| format!("MARK-{mark}")).collect();
        assert_eq!(turn.calls.last().unwrap().marks, marks, "{turn}");
    }
    assert_eq!(served.told_of_sessions(), [begun(&session), resumed(&session), resumed(&session)]);
    assert_eq!(stage.stored_sessions(stage.who).len(), 1);
}

fn another_agent_in_between(stage: &Stage) {
    let served = Served::start(stage);
    let first = served.first("first MARK-one").done();
    let session = first.session();
    let second = served.next_with(&first, "second MARK-two", "agent", "demo").done().fresh("no_session", 1);
    assert!(second.calls.is_empty(), "{second}");
    let third = served.next_with(&first, "third MARK-three", "agent", "claude").done().resumed(&session, 1);
    let third = third.remembered(2, ["one", "two", "three"]);
    let sent = third.prompt_sent();
    assert!(sent.contains("second MARK-two") && sent.contains("third MARK-three"), "{sent}");
    assert!(!sent.contains("first MARK-one"), "what the session knows is not told again: {sent}");
    assert_eq!(served.told_of_sessions(), [begun(&session), resumed(&session)]);
}

fn a_fresh_session_is_forced(stage: &Stage) {
    let served = Served::start(stage);
    let first = served.first("first MARK-one").done();
    let second = served.next_with(&first, "second MARK-two", "forceFreshSession", true).done();
    let second = second.fresh("forced", 1).remembered(1, ["one", "two"]);
    assert_ne!(second.session(), first.session());
    assert_eq!(served.told_of_sessions(), [begun(&first.session()), begun(&second.session())]);
    let third = served.next(&first, "third MARK-three").done().resumed(&second.session(), 0);
    third.remembered(2, ["one", "two", "three"]).verbatim("third MARK-three");
}

fn another_directory(stage: &Stage) {
    let web = stage.lab.project().join("web");
    fs::create_dir(&web).unwrap();
    let web = web.to_str().unwrap();
    let served = Served::start(stage);
    let first = served.first("first MARK-one").done();
    let there = served.next_with(&first, "second MARK-two", "cwd", web).done();
    let there = there.fresh("workdir_changed", 1).remembered(1, ["one", "two"]);
    assert_eq!((&there.receipt()["plan"]["now"], &there.receipt()["asked"]), (&web.into(), &().into()));
    let back = served.next(&first, "third MARK-three").done().resumed(&first.session(), 1);
    back.remembered(2, ["one", "two", "three"]);
    let sessions = [begun(&first.session()), begun(&there.session()), resumed(&first.session())];
    assert_eq!(served.told_of_sessions(), sessions);
}

fn a_program_of_another_name(stage: &Stage) {
    let served = Served::start(stage);
    let first = served.first("first MARK-one").done();
    drop(served);
    let served = Served::start_as(stage, "openclaude", "exec");
    let second = served.next(&first, "second MARK-two").done();
    let second = second.fresh("runtime_changed", 1).remembered(1, ["one", "two"]);
    drop(served);
    let served = Served::start(stage);
    let third = served.next(&first, "third MARK-three").done().resumed(&first.session(), 1);
    third.remembered(2, ["one", "two", "three"]);
    let sessions = [begun(&first.session()), begun(&second.session()), resumed(&first.session())];
    assert_eq!(served.told_of_sessions(), sessions);
}

/// Noticed before Claude is started.
fn a_session_that_is_gone(stage: &Stage) {
    let served = Served::start(stage);
    let first = served.first("first MARK-one").done();
    fs::remove_file(stage.session_file(&first.session())).unwrap();
    let second = served.next(&first, "second MARK-two").done();
    let second = second.fresh("session_missing", 1).remembered(1, ["one", "two"]);
    assert_eq!(second.receipt()["runs"], 1);
    assert_eq!(served.told_of_sessions(), [begun(&first.session()), begun(&second.session())]);
}

/// A file that is there, but that Claude does not take for a session: it is started once more, with the history.
fn a_session_that_claude_refuses(stage: &Stage) {
    let served = Served::start(stage);
    let first = served.first("first MARK-one").done();
    let file = stage.session_file(&first.session());
    let size = fs::metadata(&file).unwrap().len() as usize;
    fs::write(file, format!("{:size$}\n", "{\"type\":\"user\"}")).unwrap();
    let second = served.next(&first, "second MARK-two").done();
    let second = second.fresh("session_rejected", 1).remembered(1, ["one", "two"]);
    let receipt = second.receipt();
    assert_eq!((&receipt["runs"], &receipt["asked"]), (&2.into(), &first.session().into()));
    assert_eq!(second.calls.len(), 1, "the model saw one run only: {second}");
    assert_eq!(second.events_of("resume_rejected").len(), 1, "{second}");
    let third = served.next(&first, "third MARK-three").done().resumed(&second.session(), 0);
    third.remembered(2, ["one", "two", "three"]).verbatim("third MARK-three");
    let (old, new) = (first.session(), second.session());
    assert_eq!(served.told_of_sessions(), [begun(&old), resumed(&old), begun(&new), resumed(&new)]);
}

/// Its help does not tell of `--resume`, so it is never given that.
fn a_claude_that_cannot_resume(stage: &Stage) {
    let filter = "hide() { \"$@\" | sed s/--resume/--revive/g; }; hide";
    let served = Served::start_as(stage, "claude", filter);
    let first = served.first("first MARK-one").done().fresh("first_turn", 0);
    let second = served.turn(&next(&first, "second MARK-two")).done();
    let second = second.fresh("unsupported", 1).remembered(1, ["one", "two"]);
    assert_ne!(second.session(), first.session());
    assert_eq!(served.told_of_sessions(), [begun(&first.session()), begun(&second.session())]);
}
