//! Two at once: one writer per conversation and per session.

use rustix::process::Signal;

use super::stage::Stage;

on_all!(the_second_is_told_who_is_at_it: ["two at once"], the_second_waits: ["two in a row"]);
on_both!(a_killed_one_frees_the_conversation);

fn the_second_is_told_who_is_at_it(stage: &Stage) {
    stage.first("first MARK-one").go().done();
    let running = stage.next("second MARK-two HANG").start().until_the_model_is_asked();
    let busy = stage.next("third MARK-three").plainly();
    assert_eq!(busy.code(), Some(6), "{}", busy.stderr);
    assert!(busy.stderr.contains(&running.pid().to_string()), "who holds it: {}", busy.stderr);
    assert!(busy.stderr.contains("--wait"), "what to do: {}", busy.stderr);
    assert_eq!(stage.lab.model().calls().len(), 2, "the second was not run");
    assert_eq!(stage.ask(["ls", "--json"])[0]["state"], "running");
    running.signal(Signal::INT);
    running.finish().ended(130, "cancelled");
    assert!(!stage.records().iter().any(|record| record.to_string().contains("MARK-three")));
}

fn the_second_waits(stage: &Stage) {
    let session = stage.first("first MARK-one").with(["--permissions", "full"]).go().done().session();
    let running = stage.next("second MARK-two TOOL-SLEEP 2").start().until_the_model_is_asked();
    let waiting = stage.next("third MARK-three").with(["--wait"]).start();
    running.finish().done().resumed(&session, 0).remembered(2, ["one", "two"]);
    let third = waiting.finish().done().resumed(&session, 0).remembered(3, ["one", "two", "three"]);
    assert_eq!(third.receipt()["bytes"], "third MARK-three".len());
}

fn a_killed_one_frees_the_conversation(stage: &Stage) {
    stage.first("first MARK-one").go().done();
    let running = stage.next("second MARK-two HANG").start().until_the_model_is_asked();
    running.signal(Signal::KILL);
    // At once: the lock is held until the last process of the first turn is gone.
    let next = stage.next("third MARK-three").with(["--wait=30s"]).go().done();
    assert_eq!(next.calls.last().unwrap().marks, ["MARK-one", "MARK-two", "MARK-three"], "{next}");
}
