//! A run whose file changed since it was begun.

use serde_json::Value;

use super::{flow, marks, states, step};
use crate::support::Bench;

const REVIEW: &str = "
name: review
inputs: { word: { default: two } }
steps:
  look: { agent: demo, prompt: 'MARK-look' }
  note: { run: 'echo note >> notes' }
  ask: { continue_from: look, prompt: 'MARK-{{ inputs.word }}' }
  fails: { run: 'exit 3', needs: ask }
";

fn resumed(bench: &Bench, more: &[&str]) -> Value {
    bench.rejoin(&["flow", "resume", "@", "-o", "json"]).with(more).done().json()
}

fn notes(bench: &Bench) -> usize {
    std::fs::read_to_string(bench.project().join("notes")).unwrap().lines().count()
}

#[test]
fn a_change_is_told_and_not_taken_unless_asked_for() {
    let bench = Bench::new();
    flow(&bench, REVIEW).ends(1);
    let said = bench.rejoin(&["flow", "resume", "@"]).ends(1);
    assert!(!said.stderr().contains("changed"), "{}", said.stderr());
    bench.file("test.flow.yaml", REVIEW.replace("exit 3", "exit 0"));
    let said = bench.rejoin(&["flow", "resume", "@"]).ends(1);
    said.tells(&["test.flow.yaml has changed since", "goes on as it was begun", "--updated"]);
    let run = resumed(&bench, &["--updated"]);
    assert_eq!((&run["standing"], notes(&bench)), (&"done".into(), 1));
    // What is run is what was taken, from now on.
    let said = bench.rejoin(&["flow", "resume", "@"]).done();
    assert!(!said.stderr().contains("changed"), "{}", said.stderr());
    std::fs::remove_file(bench.project().join("test.flow.yaml")).unwrap();
    bench.rejoin(&["flow", "resume", "@"]).done().tells(&["is not there any more"]);
    bench.rejoin(&["flow", "resume", "@", "--updated"]).ends(4).tells(&["cannot read"]);
}

#[test]
fn steps_that_say_the_same_are_kept_and_those_that_wait_for_a_changed_one_are_not() {
    let bench = Bench::new();
    let begun = flow(&bench, REVIEW).with(&["-i", "word=given"]).ends(1).json();
    let (look, ask) = (step(&begun, "look"), step(&begun, "ask"));
    let changed = REVIEW.replace("'MARK-{{", "'again MARK-{{").replace("exit 3", "exit 0");
    bench.file("test.flow.yaml", changed.replace("name: review", "name: renamed"));
    let run = resumed(&bench, &["--updated"]);
    assert_eq!((step(&run, "look"), notes(&bench)), (look.clone(), 1), "what is done is not run again");
    let again = step(&run, "ask");
    assert_ne!(again["receipt"]["turn"], ask["receipt"]["turn"]);
    // What it was given stays, and it goes on from the same turn, on a branch of its own.
    assert_eq!(marks(&again), "MARK-given,MARK-look".split(',').rev().collect::<Vec<_>>().join(","));
    let listed = bench.rejoin(&["flow", "ls", "--json"]).done().json();
    assert_eq!((&listed[0]["flow"], &listed[0]["done"]), (&"renamed".into(), &4.into()));

    let changed = changed.replace("'MARK-look'", "'MARK-other'");
    bench.file("test.flow.yaml", &changed);
    let run = resumed(&bench, &["--updated"]);
    assert_eq!(marks(&step(&run, "ask")), "MARK-other,MARK-given");
    assert_eq!(notes(&bench), 1);
}

#[test]
fn steps_come_and_go() {
    let bench = Bench::new();
    flow(&bench, "steps: { a: { run: echo a }, b: { run: echo b } }").done();
    bench.file("test.flow.yaml", "steps: { a: { run: echo a }, c: { run: echo c, needs: a } }");
    let said = bench.rejoin(&["flow", "resume", "@", "--updated", "-o", "json"]).done();
    assert_eq!(states(&said), ["a done", "c done"]);
    // A run of some steps takes along what they wait for now.
    flow(&bench, "steps: { a: { run: echo a }, b: { run: echo b } }").with(&["--step", "b"]).done();
    bench.file(
        "test.flow.yaml",
        "steps: { a: { run: echo a }, b: { run: echo b, needs: n }, n: { run: echo n }, o: { run: echo o } }",
    );
    let said = bench.rejoin(&["flow", "resume", "@", "--updated", "-o", "json"]).done();
    assert_eq!(states(&said), ["n done", "b done"]);
}

#[test]
fn a_prompt_file_and_a_new_input_count_too() {
    let bench = Bench::new();
    bench.file("ask.md", "MARK-one");
    flow(&bench, "steps: { a: { agent: demo, prompt_file: ask.md } }").done();
    bench.file("ask.md", "MARK-two");
    bench.rejoin(&["flow", "resume", "@"]).done().tells(&["has changed: a file with a prompt since"]);
    assert_eq!(marks(&step(&resumed(&bench, &["--updated"]), "a")), "MARK-two");
    bench.file("test.flow.yaml", "inputs: { x: }\nsteps: { a: { agent: demo, prompt: '{{ inputs.x }}' } }");
    let said = bench.rejoin(&["flow", "resume", "@", "--updated"]).ends(2);
    said.tells(&["input \"x\" is missing", "begin a new one"]);
    bench.file("test.flow.yaml", "steps: { a: { agnet: demo } }");
    bench
        .rejoin(&["flow", "resume", "@", "--updated"])
        .ends(2)
        .tells(&["test.flow.yaml:1:15: unknown field"]);
    // The run itself is as it was.
    assert_eq!(marks(&step(&resumed(&bench, &[]), "a")), "MARK-two");
}
