//! A session that was used outside of rejoin in between.

use std::process::Command;

use rejoin_testkit::run_to_end;

use crate::support::{Bench, PATIENCE};

/// As somebody does who calls the agent itself.
fn by_hand(bench: &Bench, session: &str, prompt: &str) {
    let mut command: Command = bench.lab.command(env!("CARGO_BIN_EXE_rejoin"));
    command.args(["__demo-agent", "--resume", session, "--store"]).arg(bench.home().join("demo-agent"));
    let line = serde_json::json!({ "type": "prompt", "text": prompt }).to_string() + "\n";
    run_to_end(&mut command, line.as_bytes(), PATIENCE).unwrap().assert_success();
}

#[test]
fn it_goes_on_from_there_with_a_warning_and_a_gap() {
    let bench = Bench::new();
    let first = bench.first("hello MARK-a").done();
    by_hand(&bench, &first.session(), "by hand MARK-x");
    let said = bench.next("and now MARK-b").done();
    said.resumed(&first.session(), 0).sent_only("and now MARK-b").knows(&["a", "x", "b"]);
    assert!(said.warned("advanced").contains("outside rejoin"));
    let gaps = bench.notes("gap");
    assert_eq!((gaps.len(), &gaps[0]["session"]), (1, &first.session().into()));
    bench.next("calm again MARK-c").done().resumed(&first.session(), 0).calm();
    assert_eq!(bench.notes("gap").len(), 1);
}

#[test]
fn a_dry_run_tells_it_beforehand() {
    let bench = Bench::new();
    let first = bench.first("hello MARK-a").done();
    by_hand(&bench, &first.session(), "by hand MARK-x");
    let said = bench.rejoin(&["run", "-c", "--dry-run", "x"]).done();
    said.tells(&["outside rejoin"]);
}

#[test]
fn catch_up_and_a_gap_go_together() {
    let bench = Bench::new();
    let first = bench.first("hello MARK-a").done();
    bench.hand_to("demo2", "you MARK-b").done();
    by_hand(&bench, &first.session(), "by hand MARK-x");
    let said = bench.hand_to("demo", "and now MARK-c").done();
    said.resumed(&first.session(), 1).knows(&["a", "x", "b", "c"]);
    said.warned("advanced");
}
