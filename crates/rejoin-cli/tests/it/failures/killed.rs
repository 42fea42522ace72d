//! `kill -9` of rejoin itself.

use crate::support::{Bench, eventually, kill};

#[test]
fn nothing_said_is_lost_and_nobody_is_left() {
    let bench = Bench::new();
    let first = bench.first("hello MARK-a").done();
    let mut turn = bench.next("take your time MARK-b CHILD 300 SLOW 3000").start();
    turn.hears("text_delta");
    eventually("the partial answer in the journal", || {
        bench.records().iter().any(|record| record.to_string().contains("piece 1 of")).then_some(())
    });
    turn.kill();
    bench.comes_to_rest();

    assert_eq!(bench.conversations()[0]["state"], "interrupted");
    let shown = bench.rejoin(&["show"]).done();
    assert!(shown.stdout().contains("turn 2 · demo · ") && shown.stdout().contains(" · interrupted"));
    assert!(shown.stdout().contains("take your time MARK-b") && shown.stdout().contains("piece 1 of 3000"));

    let said = bench.next("where were we? MARK-c").done();
    said.resumed(&first.session(), 1).knows(&["a", "b", "c"]).sent_with(&[
        "take your time MARK-b",
        "piece 1 of 3000",
        "Your last turn was cut off before it finished. Commands it had started may have run",
    ]);
    bench.next("on MARK-d").done().sent_only("on MARK-d");
    assert_eq!(bench.conversations()[0]["state"], "idle");
}

/// A turn was never settled, and then an older copy of the session was put back: what was said before is not in it.
#[test]
fn a_session_that_lost_its_end_after_a_kill_is_not_resumed() {
    let bench = Bench::new();
    let first = bench.first("hello MARK-a").done();
    let file = bench.stored("demo", &first.session());
    let older = std::fs::read(&file).unwrap();
    bench.next("on MARK-b").done().resumed(&first.session(), 0);
    let mut turn = bench.next("take your time MARK-c SLOW 3000").start();
    turn.hears("text_delta");
    turn.kill();
    bench.comes_to_rest();
    std::fs::write(file, older).unwrap();
    bench.next("where were we? MARK-d").done().fresh("session_missing", 3).knows(&["a", "b", "c", "d"]);
}

#[test]
fn a_deaf_agent_is_ended_too() {
    let bench = Bench::new();
    let mut turn = bench.first("TOOL-RUN [trap '' TERM INT HUP; sleep 300] MARK-a").start();
    turn.hears("tool_use");
    eventually("the tool", || {
        bench.processes().iter().any(|process| process.command.starts_with("sleep 300")).then_some(())
    });
    turn.kill();
    bench.comes_to_rest();
    bench.next("on MARK-b").done().knows(&["a", "b"]);
}

#[test]
fn the_conversation_is_held_until_its_last_process_is_gone() {
    let bench = Bench::new();
    let mut turn = bench.first("TOOL-RUN [trap '' TERM INT HUP; sleep 300] MARK-a").start();
    turn.hears("tool_use");
    eventually("the tool", || {
        bench.processes().iter().any(|process| process.command.starts_with("sleep 300")).then_some(())
    });
    let killed = format!("what was started by process {}", turn.pid());
    turn.kill();
    // The supervisor holds it, and says so as soon as it has noticed; never the one that is gone.
    let said = bench.next("too early").ends(6);
    let supervisor = "ending what a rejoin that was killed left running";
    assert!(said.stderr().contains(&killed) || said.stderr().contains(supervisor), "{}", said.stderr());
    bench.next("in time MARK-b").with(&["--wait"]).done().knows(&["a", "b"]);
}

#[test]
fn a_supervisor_that_is_killed_takes_the_agent_along() {
    let bench = Bench::new();
    let mut turn = bench.first("MARK-a HANG").start();
    turn.hears("session");
    let supervisor = eventually("the supervisor", || {
        bench.processes().into_iter().find(|process| process.command.contains("__supervise"))
    });
    kill(supervisor.pid);
    turn.ends(1).came_to("failed", Some("supervisor"));
    bench.comes_to_rest();
    bench.next("on MARK-b").done().knows(&["a", "b"]);
}

#[test]
fn a_kill_before_the_first_word_leaves_the_prompt() {
    let bench = Bench::new();
    let turn = bench.first("HANG-EARLY MARK-a").start();
    eventually("the intent", || {
        let journal = bench.journals().pop()?;
        std::fs::read_to_string(journal).ok()?.contains("\"intent\"").then_some(())
    });
    turn.kill();
    bench.comes_to_rest();
    let said = bench.next("again MARK-b").done();
    said.fresh("session_unconfirmed", 1).knows(&["a", "b"]);
}
