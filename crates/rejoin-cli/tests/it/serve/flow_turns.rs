//! Turns of flows count among the turns that a daemon runs at once (`--max-runs`).

use std::fs;

use serde_json::{Value, json};

use super::daemon::Daemon;
use super::flows::{begin, comes_to};
use super::runs::{over, text, until, wanted};
use crate::support::{Bench, eventually};

fn flow(bench: &Bench) -> Value {
    json!({ "project": bench.project(), "file": "test.flow.yaml" })
}

/// Says that it is there, notes how many are, and stays for a while.
const COUNTS: &str = "TOOL-RUN [mkdir -p up; touch up/$$; ls up | wc -l >> seen; sleep 0.4; rm up/$$]";

#[test]
fn steps_at_once_are_never_more_turns_than_the_daemon_may_run() {
    let bench = Bench::new();
    let mut yaml = "steps:\n  all:\n    parallel:\n".to_owned();
    for step in ["a", "b", "c", "d", "e"] {
        yaml.extend(["      ", step, ": { agent: demo, prompt: '", COUNTS, "' }\n"]);
    }
    bench.file("test.flow.yaml", yaml);
    let daemon = Daemon::start_with(&bench, &["--max-runs", "2"]);
    let run = begin(&daemon, &flow(&bench));
    comes_to(&daemon, &run, "done");
    let seen = fs::read_to_string(bench.project().join("seen")).unwrap();
    let seen: Vec<usize> = seen.lines().map(|line| line.trim().parse().unwrap()).collect();
    assert_eq!(seen.len(), 5, "each was run");
    assert!(seen.iter().all(|seen| *seen <= 2), "two at a time: {seen:?}");
}

#[test]
fn a_run_waits_for_the_turn_of_a_flow_and_the_other_way_round() {
    let bench = Bench::new();
    let waits = "TOOL-RUN [touch sign; until test -e go; do sleep 0.05; done]";
    bench.file("test.flow.yaml", format!("steps:\n  one: {{ agent: demo, prompt: '{waits}' }}\n"));
    let daemon = Daemon::start_with(&bench, &["--max-runs", "1"]);
    let first = begin(&daemon, &flow(&bench));
    let sign = bench.project().join("sign");
    eventually("the step", || sign.exists().then_some(()));
    let queued = daemon.post("/api/v1/runs", &wanted(&bench, "hello MARK-a")).is(202);
    assert_eq!(queued["status"], "queued", "{queued}");
    let mut ephemeral = wanted(&bench, "hello");
    ephemeral["ephemeral"] = json!(true);
    assert_eq!(daemon.post("/api/v1/runs", &ephemeral).is(429)["code"], "too_many");
    bench.file("go", "");
    comes_to(&daemon, &first, "done");
    assert_eq!(over(&daemon, &queued["run"])["status"], "completed");

    let slow = daemon.post("/api/v1/runs", &wanted(&bench, "SLOW 100000")).is(202);
    until(&daemon, &slow["run"], "running");
    fs::remove_file(&sign).unwrap();
    let second = begin(&daemon, &flow(&bench));
    let third = begin(&daemon, &flow(&bench));
    // One that waits for a place is stopped like any other.
    daemon.post(&format!("/api/v1/flows/runs/{second}/cancel"), &json!({})).is(202);
    comes_to(&daemon, &second, "cancelled");
    assert!(!sign.exists(), "no turn was begun");
    daemon.post(&format!("/api/v1/runs/{}/cancel", text(&slow["run"])), &json!({})).is(200);
    comes_to(&daemon, &third, "done");
    assert!(sign.exists());
}
