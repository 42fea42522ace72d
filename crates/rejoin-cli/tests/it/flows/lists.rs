//! Steps for each item of a list.

use super::{flow, states, step};
use crate::support::Bench;

#[test]
fn items_run_one_after_the_other_unless_more_are_allowed() {
    let bench = Bench::new();
    // Each waits until as many have begun as may run at once.
    let yaml = "
steps:
  each:
    for_each: [a, b, c, d]
    max_concurrent: 2
    step:
      run: 'echo >> \"begun-$PAIR\"; until [ \"$(wc -l < \"begun-$PAIR\")\" = 2 ]; do sleep 0.05; done; echo \"$ITEM\"'
      env: { ITEM: '{{ item }}', PAIR: '{{ index // 2 }}' }
      timeout: 30s
  after: { run: 'echo \"$ALL $LAST\"', env: { ALL: '{{ steps.each.json }}', LAST: '{{ steps.each.json[3] }}' } }
";
    let run = flow(&bench, yaml).done().json();
    assert_eq!(step(&run, "each")["output"], "a\nb\nc\nd", "in the order of the list");
    assert_eq!(step(&run, "after")["output"], "[\"a\",\"b\",\"c\",\"d\"] d");
    let one =
        yaml.replace("max_concurrent: 2", "max_items: 4").replace("30s", "300ms").replace("begun", "again");
    flow(&bench, &one).ends(3).tells(&["✗ each · ", "each[0]: the command took too long"]);
}

#[test]
fn lists_run_inside_of_parallel_steps() {
    let bench = Bench::new();
    let yaml = "
steps:
  one: { agent: demo, prompt: first MARK-one }
  both:
    parallel:
      left: { for_each: [x, y], max_concurrent: 2, step: { fork_from: one, prompt: 'MARK-{{ item }}' } }
      right: { for_each: [], step: { run: exit 1 } }
  after: { run: 'echo \"$N\"', env: { N: '{{ steps.left.json|length }} {{ steps.right.json|length }}' } }
";
    let run = flow(&bench, yaml).done().json();
    assert_eq!(step(&run, "after")["output"], "2 0");
    let left = step(&run, "left")["json"].clone();
    assert!(left[0].as_str().unwrap().ends_with("MARK-one,MARK-x"), "{left}");
    assert!(left[1].as_str().unwrap().ends_with("MARK-one,MARK-y"), "{left}");
}

#[test]
fn after_a_failure_no_more_items_are_begun() {
    let bench = Bench::new();
    let yaml =
        "steps: { each: { for_each: [0, 7, 0], step: { run: 'exit \"$N\"', env: { N: '{{ item }}' } } } }";
    let said = flow(&bench, yaml).ends(1);
    assert_eq!(states(&said), ["each done", "each failed", "each failed"]);
    said.tells(&["each[1]: the command exited with 7"]);
    let all = yaml.replace("step: {", "step: { allow_failure: true,");
    assert_eq!(step(&flow(&bench, &all).done().json(), "each")["json"], serde_json::json!(["", "", ""]));
}
