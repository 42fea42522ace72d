//! `env` on a step that is a turn of an agent.

use std::fs;

use super::{flow, marks, step};
use crate::support::Bench;

#[test]
fn variables_reach_the_agent_and_no_journal() {
    let bench = Bench::new();
    let yaml = "
inputs: { word: { required: true } }
steps:
  one:
    agent: demo
    prompt: 'MARK-a TOOL-RUN [printf %s \"$WORD\" > word]'
    env: { WORD: '{{ inputs.word }}' }
  two: { continue_from: one, prompt: 'MARK-b TOOL-RUN [printf %s \"$WORD\" > none]' }
";
    flow(&bench, yaml).with(&["-i", "word=open sesame"]).done();
    assert_eq!(fs::read_to_string(bench.project().join("word")).unwrap(), "open sesame");
    assert_eq!(fs::read_to_string(bench.project().join("none")).unwrap(), "", "only for its own step");
    for journal in bench.journals() {
        assert!(!fs::read_to_string(journal).unwrap().contains("sesame"));
    }
}

/// The store is looked for in the environment the agent is launched with.
#[test]
fn a_variable_that_moves_the_store_decides_about_resuming() {
    let bench = Bench::new();
    let there = bench.outside("sessions");
    let yaml = "
steps:
  one: { agent: demo, prompt: MARK-a, env: { REJOIN_DEMO_STORE: THERE } }
  two: { continue_from: one, prompt: MARK-b, env: { REJOIN_DEMO_STORE: THERE } }
  three: { continue_from: two, prompt: MARK-c }
  four: { continue_from: three, prompt: MARK-d, env: { REJOIN_DEMO_STORE: THERE } }
";
    let run = flow(&bench, &yaml.replace("THERE", there.to_str().unwrap())).done().json();
    let plan = |name: &str| step(&run, name)["receipt"]["plan"].clone();
    assert_eq!(plan("two")["decision"], "resume");
    assert_eq!(plan("three")["reason"], "store_changed");
    assert_eq!(plan("four")["decision"], "resume", "the session that waited there");
    assert_eq!(plan("four")["session"], plan("two")["session"]);
    assert_eq!(marks(&step(&run, "four")), "MARK-a,MARK-b,MARK-c,MARK-d");
    assert_eq!(fs::read_dir(&there).unwrap().count(), 1);
}

#[test]
fn a_name_or_value_that_cannot_be_is_refused() {
    let bench = Bench::new();
    flow(&bench, "steps: { one: { agent: demo, prompt: x, env: { A=B: x } } }")
        .ends(2)
        .tells(&["1:48: \"A=B\" cannot name a variable"]);
    flow(&bench, "steps: { one: { agent: demo, prompt: x, env: { A: \"a\\0b\" } } }")
        .ends(1)
        .tells(&["env.A of step \"one\": it contains a NUL byte"]);
    assert!(bench.journals().is_empty());
}
