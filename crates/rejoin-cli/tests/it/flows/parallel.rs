//! Steps that run at once.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::{flow, marks, states, step};
use crate::support::Bench;

#[test]
fn a_hundred_steps_at_once_keep_their_own_sessions() {
    let bench = Bench::new();
    let mut yaml = "steps:\n  all:\n    max_concurrent: 100\n    parallel:\n".to_owned();
    for at in 0..100 {
        let _ = writeln!(yaml, "      s{at}: {{ agent: demo, prompt: MARK-{at} SLEEP 0.1 }}");
    }
    yaml.push_str("  last: { continue_from: s42, prompt: MARK-last }\n");
    let run = flow(&bench, &yaml).done().json();
    let sessions: BTreeSet<String> =
        (0..100).map(|at| step(&run, &format!("s{at}"))["receipt"]["session"].to_string()).collect();
    assert_eq!(sessions.len(), 100);
    assert_eq!(marks(&step(&run, "last")), "MARK-42,MARK-last");
    assert_eq!(step(&run, "last")["receipt"]["plan"]["decision"], "resume");
}

#[test]
fn after_a_failure_no_more_are_begun() {
    let bench = Bench::new();
    let yaml = "
steps:
  all:
    max_concurrent: 1
    parallel:
      one: { run: exit 1 }
      two: { run: echo never }
  after: { run: echo never }
";
    let said = flow(&bench, yaml).ends(1);
    assert_eq!(states(&said), ["one failed", "two skipped", "all failed"]);
    said.tells(&["✗ all", "one: the command exited with 1"]);
}

#[test]
fn one_success_is_enough_and_stops_the_others() {
    let bench = Bench::new();
    let yaml = "
steps:
  race:
    strategy: any
    parallel:
      fails: { run: exit 1 }
      quick: { run: sleep 0.3; echo here }
      slow: { run: sleep 300 }
      agent: { agent: demo, prompt: HANG }
  after: { run: 'echo \"$QUICK\"', env: { QUICK: '{{ steps.quick.output }}' } }
";
    let said = flow(&bench, yaml).done();
    let run = said.json();
    let state = |name| step(&run, name)["state"].clone();
    assert_eq!(
        [state("fails"), state("quick"), state("slow"), state("agent")],
        ["failed", "done", "cancelled", "cancelled"]
    );
    assert_eq!(step(&run, "after")["output"], "here");
    bench.comes_to_rest();
    flow(&bench, "steps: { race: { strategy: any, parallel: { a: { run: exit 1 }, b: { run: exit 2 } } } }")
        .ends(1);
}

#[test]
fn best_effort_takes_what_it_gets() {
    let bench = Bench::new();
    let yaml = "
steps:
  all:
    strategy: best_effort
    parallel: { one: { run: exit 1 }, two: { run: echo two } }
  after: { run: 'echo \"$ONE $TWO\"', env: { ONE: '{{ steps.one.ok }}', TWO: '{{ steps.two.output }}' } }
";
    let run = flow(&bench, yaml).done().json();
    assert_eq!(step(&run, "after")["output"], "false two");
}
