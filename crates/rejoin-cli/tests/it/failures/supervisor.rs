//! `kill -9` of the process between rejoin and the agent, as the system does when memory runs out.

use std::fs;

use rustix::process::Signal;

use crate::support::{Bench, Live, Process, eventually, kill, signal};

/// Tools that do not go by themselves: one in a session of its own, one that is deaf.
const TOOLS: &str = "TOOL-RUN [setsid sleep 300 & trap '' TERM INT HUP; sleep 302] MARK-a";

/// A process whose command line begins so.
fn running(bench: &Bench, command: &str) -> Option<Process> {
    bench.processes().into_iter().find(|process| process.command.starts_with(command))
}

/// rejoin itself in another part.
fn helper(bench: &Bench, part: &str) -> Option<Process> {
    let command = format!("{} {part}", env!("CARGO_BIN_EXE_rejoin"));
    running(bench, &command)
}

/// Kills rejoin and its supervisor, which does not get to notice.
fn kill_both(bench: &Bench, turn: Live<'_>) {
    let supervisor = eventually("the supervisor", || helper(bench, "__supervise")).pid;
    signal(supervisor, Signal::STOP);
    eventually("the last of its threads to stop", || {
        let threads = fs::read_dir(format!("/proc/{supervisor}/task")).unwrap().flatten();
        let mut states = threads.map(|thread| fs::read_to_string(thread.path().join("stat")).unwrap());
        states.all(|stat| stat.rsplit(") ").next().unwrap().starts_with('T')).then_some(())
    });
    turn.kill();
    kill(supervisor);
    eventually("the end of supervisor and agent", || {
        (helper(bench, "__supervise").is_none() && helper(bench, "__demo").is_none()).then_some(())
    });
}

/// A turn in the middle of its tools, and its supervisor.
fn at_its_tools(bench: &Bench) -> (Live<'_>, Process) {
    let mut turn = bench.first(TOOLS).start();
    turn.hears("tool_use");
    for tool in ["sleep 300", "sleep 302"] {
        eventually("the tools", || running(bench, tool));
    }
    let supervisor = eventually("the supervisor", || helper(bench, "__supervise"));
    (turn, supervisor)
}

#[test]
fn rejoin_ends_everything_and_says_so() {
    let bench = Bench::new();
    let (turn, supervisor) = at_its_tools(&bench);
    // Nobody gets in before it is done.
    turn.signal(Signal::STOP);
    kill(supervisor.pid);
    bench.next("too early").ends(6).tells(&["is in use by process", &turn.pid().to_string()]);
    turn.signal(Signal::CONT);

    let said = turn.ends(1);
    let told = said.came_to("failed", Some("supervisor")).warned("supervisor");
    assert!(told.contains("the supervisor of the agent was killed") && told.contains("sleep ("), "{told}");
    bench.comes_to_rest();
    assert_eq!(bench.notes("receipt").len(), 1);
    assert_eq!(bench.conversations()[0]["state"], "failed");
    bench.next("on MARK-b").done().knows(&["a", "b"]);
}

#[test]
fn with_rejoin_killed_too_the_next_turn_ends_what_was_left() {
    let bench = Bench::new();
    let (turn, _) = at_its_tools(&bench);
    kill_both(&bench, turn);
    assert!(running(&bench, "sleep 300").is_some(), "nobody is there to end it");

    let said = bench.next("on MARK-b").done();
    let told = said.knows(&["a", "b"]).warned("leftover");
    assert!(told.contains("a turn before was killed") && told.contains("sleep ("), "{told}");
    bench.comes_to_rest();
    bench.next("on MARK-c").done().calm();
}

#[test]
fn a_background_process_of_a_clean_turn_is_nobodys_leftover() {
    let bench = Bench::new();
    bench.first("MARK-a CHILD 300").done().warned("background");
    let mut turn = bench.next("MARK-b HANG").start();
    turn.hears("session");
    kill_both(&bench, turn);
    bench.next("on MARK-c").done().calm();
    assert_eq!(bench.processes().len(), 1, "the child of the first turn lives on");
}

#[test]
fn a_command_of_a_flow_is_ended_as_well() {
    let bench = Bench::new();
    let wait = "echo x >> sign; until test -e go; do setsid sleep 300; done";
    bench.file("test.flow.yaml", format!("steps: {{ one: {{ run: '{wait}' }} }}"));
    let run = bench.rejoin(&["flow", "run", "test.flow.yaml"]).start();
    eventually("the command", || running(&bench, "sleep 300"));
    kill(eventually("the supervisor", || helper(&bench, "__supervise")).pid);
    run.ends(1).tells(&["the supervisor of the command was killed"]);
    bench.comes_to_rest();

    // And with rejoin killed too, by who goes on with the run.
    let run = bench.rejoin(&["flow", "resume", "@"]).start();
    eventually("the command", || running(&bench, "sleep 300"));
    kill_both(&bench, run);
    bench.file("go", "");
    bench.rejoin(&["flow", "resume", "@"]).done();
    bench.comes_to_rest();
}
