//! Commands that do not end as they should.

use std::fs;
use std::time::{Duration, Instant};

use super::{flow, states, step};
use crate::support::{Bench, eventually};

#[test]
fn what_a_command_left_behind_may_chatter_as_long_as_it_likes() {
    let bench = Bench::new();
    let yaml = "
steps:
  server: { run: '(until test -e stop; do echo x; sleep 0.05; done) & echo started', timeout: 20s }
  after: { run: touch stop }
";
    let said = flow(&bench, yaml).done();
    assert_eq!(states(&said), ["server done", "after done"]);
    assert!(step(&said.json(), "server")["output"].as_str().unwrap().contains("started"));
    bench.comes_to_rest();
}

/// Deaf to all that can be ignored.
const DEAF: &str =
    "trap '' INT TERM HUP; echo begun >> sign; until test -e go; do sleep 0.02; echo $$ >> alive; done";

#[test]
fn a_second_ctrl_c_ends_a_command_at_once() {
    let bench = Bench::new();
    bench.file("test.flow.yaml", format!("steps: {{ one: {{ run: \"{DEAF}\" }} }}"));
    let run = bench.rejoin(&["flow", "run", "test.flow.yaml"]).start();
    let sign = bench.project().join("sign");
    eventually("the step", || sign.exists().then_some(()));
    let begun = Instant::now();
    run.interrupt();
    std::thread::sleep(Duration::from_millis(200));
    run.interrupt();
    run.ends(130).tells(&["■ one · cancelled"]);
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
}

#[test]
fn a_command_that_was_cut_is_gone_before_it_runs_again() {
    let bench = Bench::new();
    bench.file("test.flow.yaml", format!("steps: {{ one: {{ run: \"{DEAF}\" }} }}"));
    let run = bench.rejoin(&["flow", "run", "test.flow.yaml"]).start();
    let alive = bench.project().join("alive");
    eventually("the command", || alive.exists().then_some(()));
    assert!(bench.rejoin(&["flow", "show"]).done().stdout().contains("one · running"));
    run.kill();
    assert!(bench.rejoin(&["flow", "show"]).done().stdout().contains("one · cut"));
    assert_eq!(bench.rejoin(&["flow", "show", "--json"]).done().json()["open"][0]["step"], "one");
    let resumed = bench.rejoin(&["flow", "resume", "@"]).start();
    let begun = || fs::read_to_string(bench.project().join("sign")).unwrap().lines().count();
    eventually("the command again", || (begun() == 2).then_some(()));
    bench.file("go", "");
    resumed.ends(0);
    let text = fs::read_to_string(alive).unwrap();
    let mut whose: Vec<&str> = text.lines().collect();
    whose.dedup();
    assert!(whose.len() <= 2, "both at once: {whose:?}");
}

#[test]
fn a_value_that_no_variable_can_hold_is_named() {
    let bench = Bench::new();
    let yaml = "
steps:
  big: { run: 'head -c 200000 /dev/zero | tr \"\\0\" x' }
  use: { run: 'echo \"$B\"', env: { B: '{{ steps.big.output }}' } }
";
    flow(&bench, yaml).ends(1).tells(&["env.B of step \"use\": 200000 bytes are more than"]);
}
