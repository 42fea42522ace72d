//! What a daemon does when it is told something by a signal.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::json;

use super::daemon::Daemon;
use super::runs::{next, over, text, until, wanted};
use crate::support::{Bench, eventually, signal};

fn says(daemon: &Daemon<'_>, words: &str) {
    eventually(words, || daemon.log().contains(words).then_some(()));
}

#[test]
fn told_to_it_reads_its_configuration_anew_and_keeps_the_old_one_where_the_new_is_wrong() {
    let bench = Bench::new();
    let mut command = bench.rejoin(&["serve", "--port", "0"]).without_agents().command();
    let daemon = Daemon::start_by(&bench.lab, &bench.home(), &mut command);
    let plain = json!({ "project": bench.project(), "prompt": "hello MARK-a" });
    let problem = daemon.post("/api/v1/runs", &plain).is(404);
    assert!(text(&problem["detail"]).contains("no coding agent is installed"), "{problem}");
    bench.config("agent = \"demo\"\n");
    daemon.post("/api/v1/runs", &plain).is(404);
    signal(daemon.pid(), Signal::HUP);
    says(&daemon, "the configuration was read anew");
    let taken = daemon.post("/api/v1/runs", &plain).is(202);
    assert_eq!(over(&daemon, &taken["run"])["agent"], "demo");

    bench.config("agent = [");
    signal(daemon.pid(), Signal::HUP);
    says(&daemon, "the one before it stays");
    let taken = daemon.post("/api/v1/runs", &plain).is(202);
    assert_eq!(over(&daemon, &taken["run"])["status"], "completed");
}

#[test]
fn what_runs_may_go_on_for_as_long_as_was_said_and_what_waits_is_kept() {
    let bench = Bench::new();
    let daemon = Daemon::start_with(&bench, &["--drain", "60s"]);
    let taken = daemon.post("/api/v1/runs", &wanted(&bench, "SLEEP 2 MARK-a")).is(202);
    until(&daemon, &taken["run"], "running");
    let waits = daemon.post("/api/v1/runs", &next(&taken["conversation"], "MARK-b")).is(202);
    signal(daemon.pid(), Signal::TERM);
    // It is still watched while it comes to its end.
    assert_eq!(daemon.get(&format!("/api/v1/runs/{}", text(&taken["run"]))).is(200)["status"], "running");
    assert_eq!(daemon.ended(), Some(0));
    let daemon = Daemon::start(&bench);
    assert_eq!(over(&daemon, &taken["run"])["status"], "completed");
    assert_eq!(over(&daemon, &waits["run"])["status"], "completed");
}

#[test]
fn what_runs_longer_than_that_is_stopped() {
    let bench = Bench::new();
    let daemon = Daemon::start_with(&bench, &["--drain", "500ms"]);
    let taken = daemon.post("/api/v1/runs", &wanted(&bench, "MARK-a SLOW 100000")).is(202);
    until(&daemon, &taken["run"], "running");
    let told = Instant::now();
    signal(daemon.pid(), Signal::TERM);
    assert_eq!(daemon.ended(), Some(0));
    assert!(told.elapsed() >= Duration::from_millis(500), "{:?}", told.elapsed());
    let daemon = Daemon::start(&bench);
    assert_eq!(over(&daemon, &taken["run"])["status"], "cancelled");
}

#[test]
fn told_twice_it_waits_for_nobody() {
    let bench = Bench::new();
    let daemon = Daemon::start_with(&bench, &["--drain", "10m"]);
    let taken = daemon.post("/api/v1/runs", &wanted(&bench, "HANG")).is(202);
    until(&daemon, &taken["run"], "running");
    signal(daemon.pid(), Signal::TERM);
    says(&daemon, "no new turn begins");
    signal(daemon.pid(), Signal::TERM);
    says(&daemon, "told again: ending at once");
    assert_eq!(daemon.ended(), Some(0));
    bench.comes_to_rest();
    let daemon = Daemon::start(&bench);
    let shown = over(&daemon, &taken["run"]);
    assert!(["interrupted", "cancelled"].contains(&text(&shown["status"])), "{shown}");
}
