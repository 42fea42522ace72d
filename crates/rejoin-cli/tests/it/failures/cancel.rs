//! Ctrl-C, once and twice, and the other signals that mean "stop".

use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::support::{Bench, Call, eventually};

const REJOIN: &str = env!("CARGO_BIN_EXE_rejoin");

#[test]
fn ctrl_c_stops_the_turn_and_keeps_what_was_said() {
    let bench = Bench::new();
    let mut turn = bench.first("MARK-a SLOW 3000").start();
    turn.hears("text_delta");
    turn.interrupt();
    let said = turn.ends(130);
    said.came_to("cancelled", None);
    assert_eq!(said.events_of("result").len(), 1);
    bench.comes_to_rest();
    let shown = bench.show();
    assert_eq!(shown["turns"][0]["state"], "cut");
    assert!(shown.to_string().contains("piece 1 of 3000"), "the partial answer is kept");
    assert_eq!(bench.conversations()[0]["state"], "interrupted");
}

#[test]
fn ctrl_c_tells_a_person_how_to_go_on() {
    let bench = Bench::new();
    let turn = bench.rejoin(&["run", "-a", "demo", "SLOW 3000"]).start();
    eventually("the journal", || bench.journals().pop().filter(|path| has_pieces(path)));
    turn.interrupt();
    turn.ends(130).tells(&["■ cancelled", "what was said is kept", "rejoin run -r "]);
}

fn has_pieces(journal: &std::path::Path) -> bool {
    std::fs::read_to_string(journal).is_ok_and(|text| text.contains("piece 1 of"))
}

#[test]
fn a_second_ctrl_c_does_not_wait() {
    let bench = Bench::new();
    let mut turn = bench.first("HANG").start();
    turn.hears("session");
    eventually("a stored session", || bench.notes("pin").pop());
    let begun = Instant::now();
    turn.interrupt();
    std::thread::sleep(Duration::from_millis(100));
    assert!(turn.is_running(), "a deaf agent gets its time");
    turn.interrupt();
    turn.ends(130).came_to("cancelled", None);
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
    bench.comes_to_rest();
}

#[test]
fn a_deaf_agent_is_ended_all_the_same() {
    let bench = Bench::new();
    let mut turn = bench.first("HANG").start();
    turn.hears("session");
    turn.interrupt();
    turn.ends(130).came_to("cancelled", None);
    bench.comes_to_rest();
}

#[test]
fn term_and_hangup_stop_it_too() {
    for signal in [Signal::TERM, Signal::HUP] {
        let bench = Bench::new();
        // `env` undoes what a `nohup` around the tests may have done.
        let args = ["--default-signal=HUP", REJOIN, "run", "-o", "stream-json", "-a", "demo", "SLOW 3000"];
        let mut turn = Call::of(&bench, "env", &args).start();
        turn.hears("text_delta");
        turn.signal(signal);
        turn.ends(130).came_to("cancelled", None);
        bench.comes_to_rest();
    }
}

#[test]
fn under_nohup_a_turn_outlives_its_terminal() {
    let bench = Bench::new();
    let script = format!("trap '' HUP; exec {REJOIN} run -o stream-json -a demo 'SLOW 10 MARK-a'");
    let mut turn = Call::of(&bench, "sh", &["-c", &script]).start();
    turn.hears("text_delta");
    turn.signal(Signal::HUP);
    turn.ends(0).came_to("completed", None).knows(&["a"]);
}

#[test]
fn children_of_a_cancelled_turn_are_swept() {
    let bench = Bench::new();
    let mut turn = bench.first("CHILD 300 CHILD-HOLD 300 TOOL-RUN [sleep 300]").start();
    for _ in 0..3 {
        turn.hears("tool_use");
    }
    eventually("two sleepers and a tool", || {
        let all = bench.processes();
        (all.iter().filter(|process| process.command.contains("sleep 300")).count() >= 3).then_some(())
    });
    turn.interrupt();
    turn.ends(130);
    bench.comes_to_rest();
}

#[test]
fn a_turn_that_waits_for_another_one_can_be_given_up() {
    let bench = Bench::after_a_turn();
    let mut first = bench.next("HANG").start();
    first.hears("session");
    let second = bench.next("me too MARK-b").with(&["--wait"]).start();
    second.listens();
    second.interrupt();
    second.ends(130).tells(&["cancelled while waiting for conversation"]);
    first.kill();
    bench.comes_to_rest();
    let shown = bench.show().to_string();
    assert!(!shown.contains("MARK-b"), "it never began");
}

#[test]
fn a_finished_turn_stays_finished() {
    let bench = Bench::new();
    let mut turn = bench.first("MARK-a LINGER 120").start();
    turn.hears("usage");
    eventually("its end", || {
        bench.processes().iter().any(|process| process.command.starts_with("sleep 120")).then_some(())
    });
    turn.interrupt();
    turn.interrupt();
    turn.ends(0).came_to("completed", None).knows(&["a"]);
    bench.comes_to_rest();
}
