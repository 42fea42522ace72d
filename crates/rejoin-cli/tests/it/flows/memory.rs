//! Steps that go on from others.

use super::{flow, marks, step};
use crate::support::Bench;

const TWO: &str = "
steps:
  one: { agent: demo, prompt: first MARK-a }
  two: { continue_from: one, prompt: second MARK-b }
";

#[test]
fn the_second_step_resumes_the_first_ones_session() {
    let bench = Bench::new();
    let said = flow(&bench, TWO).done();
    let (one, two) = (step(&said.json(), "one"), step(&said.json(), "two"));
    let session = one["receipt"]["session"].as_str().unwrap();
    assert_eq!(two["receipt"]["plan"]["decision"], "resume");
    assert_eq!(two["receipt"]["asked"], session);
    assert_eq!(two["receipt"]["session"], session);
    assert_eq!(two["receipt"]["conversation"], one["receipt"]["conversation"]);
    assert_eq!(marks(&two), "MARK-a,MARK-b");
    said.tells(&["✓ one · demo · new session", &format!("✓ two · demo · resumed {}", &session[..8])]);
}

#[test]
fn another_agent_is_handed_the_history() {
    let bench = Bench::new();
    let yaml = format!("{TWO}  three: {{ agent: demo2, continue_from: two, prompt: third MARK-c }}\n");
    let run = flow(&bench, &yaml).done().json();
    let three = step(&run, "three");
    assert_eq!(three["receipt"]["plan"]["reason"], "no_session");
    assert_eq!(three["receipt"]["plan"]["replayed"], 2);
    assert_eq!(marks(&three), "MARK-a,MARK-b,MARK-c");
}

#[test]
fn a_step_goes_on_where_the_other_ended_whatever_the_head_is_now() {
    let bench = Bench::new();
    let yaml = "
steps:
  one: { agent: demo, prompt: first MARK-a }
  meanwhile: { run: '\"$REJOIN\" run -c \"elsewhere MARK-x\"', env: { REJOIN: REJOIN-PATH }, needs: one }
  two: { continue_from: one, needs: meanwhile, prompt: second MARK-b }
";
    let yaml = yaml.replace("REJOIN-PATH", env!("CARGO_BIN_EXE_rejoin"));
    let run = flow(&bench, &yaml).done().json();
    assert_eq!(marks(&step(&run, "meanwhile")), "MARK-a,MARK-x");
    let two = step(&run, "two");
    assert_eq!(two["receipt"]["plan"]["reason"], "history_changed", "what was said elsewhere is not there");
    assert_eq!(marks(&two), "MARK-a,MARK-b");
}

#[test]
fn a_fresh_session_is_told_the_history() {
    let bench = Bench::new();
    let run = flow(&bench, &TWO.replace("MARK-b }", "MARK-b, fresh_session: true }")).done().json();
    let two = step(&run, "two");
    assert_eq!(two["receipt"]["plan"]["reason"], "forced");
    assert_eq!(marks(&two), "MARK-a,MARK-b");
}

#[test]
fn nothing_goes_on_from_a_step_that_failed_or_did_not_run() {
    let bench = Bench::new();
    let failed = TWO.replace("first MARK-a }", "FAIL other x, allow_failure: true }");
    flow(&bench, &failed).ends(1).tells(&["cannot go on from \"one\"", "it failed"]);
    let skipped = TWO.replace("first MARK-a }", "first, when: 1 == 2 }");
    flow(&bench, &skipped).ends(1).tells(&["cannot go on from \"one\"", "skipped"]);
}

#[test]
fn only_one_step_goes_on_from_another() {
    let bench = Bench::new();
    let yaml = format!("{TWO}  three: {{ continue_from: one, prompt: third }}\n");
    let said = flow(&bench, &yaml).ends(2);
    said.tells(&[
        "test.flow.yaml:5:27: ",
        "step \"two\" already goes on from \"one\"",
        "continue_from: two",
        "fork_from: one",
    ]);
    assert!(bench.journals().is_empty(), "nothing was run");
}

#[test]
fn any_number_of_steps_fork_from_one() {
    let bench = Bench::new();
    let yaml = format!(
        "{TWO}
  both:
    parallel:
      left: {{ fork_from: one, prompt: left MARK-l }}
      right: {{ fork_from: one, prompt: right MARK-r }}
  each: {{ for_each: [x, y], step: {{ fork_from: two, prompt: 'MARK-{{{{ item }}}}' }} }}
  after: {{ continue_from: left, prompt: MARK-after }}
"
    );
    let run = flow(&bench, &yaml).done().json();
    assert_eq!(marks(&step(&run, "two")), "MARK-a,MARK-b", "the conversation itself goes on in its session");
    assert_eq!(step(&run, "two")["receipt"]["plan"]["decision"], "resume");
    assert_eq!(marks(&step(&run, "left")), "MARK-a,MARK-l");
    assert_eq!(marks(&step(&run, "right")), "MARK-a,MARK-r");
    assert_eq!(step(&run, "left")["receipt"]["plan"]["reason"], "no_session");
    assert_eq!(
        step(&run, "each")["json"][1].as_str().unwrap().rsplit("marks=").next(),
        Some("MARK-a,MARK-b,MARK-y")
    );
    let (one, after) = (step(&run, "one"), step(&run, "after"));
    assert_eq!(marks(&after), "MARK-a,MARK-l,MARK-after");
    assert_eq!(after["receipt"]["plan"]["decision"], "resume", "a fork has sessions of its own");
    assert_eq!(bench.conversations().len(), 5);
    let fork = after["receipt"]["conversation"].as_str().unwrap();
    assert_ne!(one["receipt"]["conversation"], fork);
    let shown = bench.rejoin(&["show", "--json", fork]).done().json();
    assert_eq!(shown["turns"][0]["id"], one["receipt"]["turn"], "the same turn by the same id");
    assert_eq!(shown["turns"].as_array().unwrap().len(), 3);
    let raw = bench.rejoin(&["show", "--raw", fork]).done();
    let origin = raw.events().into_iter().find(|record| record["subtype"] == "forked").unwrap();
    assert_eq!(origin["systemPayload"]["conversation"], one["receipt"]["conversation"]);
    bench.rejoin(&["fsck", "--all"]).done();
}
