//! Choosing steps, looking at runs.

use std::os::unix::fs::PermissionsExt;

use super::{flow, states};
use crate::support::Bench;

const FOUR: &str = "
name: four
steps:
  a: { run: echo a }
  b: { run: echo b }
  c: { run: echo c, needs: a }
  d: { run: echo d }
";

#[test]
fn one_step_is_run_with_what_it_waits_for() {
    let bench = Bench::new();
    assert_eq!(states(&flow(&bench, FOUR).with(&["--step", "c"]).done()), ["a done", "c done"]);
    flow(&bench, FOUR).with(&["--step", "e"]).ends(4).tells(&["no step is named \"e\""]);
    assert_eq!(states(&flow(&bench, FOUR).with(&["--from", "d"]).done()), ["d done"]);
    // What only has to be over before counts as over; what something is taken from does not.
    assert_eq!(states(&flow(&bench, FOUR).with(&["--from", "b"]).done()), ["b done", "c done", "d done"]);
    let taken = FOUR.replace("needs: a", "env: { A: '{{ steps.a.output }}' }");
    let said = flow(&bench, &taken).with(&["--from", "b"]).ends(2);
    said.tells(&["step \"c\" takes from \"a\"", "rejoin flow resume RUN --from b"]);
}

#[test]
fn a_run_of_some_steps_cannot_go_on_from_another_one() {
    let bench = Bench::new();
    flow(&bench, FOUR).with(&["--step", "c"]).done();
    let said = bench.rejoin(&["flow", "resume", "@", "--from", "d"]).ends(2);
    said.tells(&["begun without step \"d\", for a, c alone"]);
    let said = bench.rejoin(&["flow", "resume", "@", "--from", "c", "-o", "json"]).done();
    assert_eq!(states(&said), ["a done", "c done"]);
}

#[test]
fn a_last_step_that_says_nothing_is_not_spoken_for() {
    let bench = Bench::new();
    let said = |yaml: &str| {
        bench.file("test.flow.yaml", yaml);
        bench.rejoin(&["flow", "run", "test.flow.yaml"]).done().stdout().to_owned()
    };
    assert_eq!(said("steps: { a: { run: echo a }, b: { run: 'true' } }"), "");
    assert_eq!(said("steps: { a: { run: echo a }, b: { run: echo b, when: 'false' } }"), "a\n");
    assert_eq!(
        said("steps: { a: { run: echo a }, g: { parallel: { b: { run: echo b }, c: { run: sleep 0.3 } } } }"),
        "b\n"
    );
}

#[test]
fn a_dry_run_shows_the_order_and_leaves_nothing() {
    let bench = Bench::new();
    let planned = flow(&bench, FOUR).with(&["--dry-run"]).done().json();
    assert_eq!((&planned[2]["step"], &planned[2]["does"]), (&"c".into(), &"run: echo c".into()));
    let said = bench.rejoin(&["flow", "run", "test.flow.yaml", "--dry-run"]).done();
    let names: Vec<&str> = said.stdout().lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names, ["a", "b", "c", "d"]);
    assert!(!bench.home().join("flows").exists());
}

#[test]
fn the_last_output_is_data_and_the_rest_is_talk() {
    let bench = Bench::new();
    bench.file("test.flow.yaml", FOUR);
    let said = bench.rejoin(&["flow", "run", "test.flow.yaml"]).done();
    assert_eq!(said.stdout(), "d\n");
    said.tells(&["flow four · run ", "✓ a · ", "✓ d · "]);
    let said = bench.rejoin(&["flow", "run", "test.flow.yaml", "-o", "stream-json"]).done();
    let kinds: Vec<String> = said.events().iter().map(|line| line["type"].to_string()).collect();
    assert_eq!(kinds.len(), 10);
    assert_eq!((kinds[0].as_str(), kinds[1].as_str()), ("\"run\"", "\"step_begun\""));
    assert_eq!((said.result()["state"].as_str(), said.result()["code"].as_i64()), (Some("done"), Some(0)));
}

#[test]
fn runs_are_listed_shown_and_private() {
    let bench = Bench::new();
    bench.rejoin(&["flow", "ls"]).done().tells(&["no flow was run here yet"]);
    bench.rejoin(&["flow", "show"]).ends(4);
    let id = flow(&bench, FOUR).done().json()["id"].as_str().unwrap().to_owned();
    let listed = bench.rejoin(&["flow", "ls"]).done();
    assert!(listed.stdout().starts_with(&format!("{}  four ", &id[..8])), "{}", listed.stdout());
    assert!(listed.stdout().contains("4 steps done"), "{}", listed.stdout());
    let shown = bench.rejoin(&["flow", "show", &id[..6]]).done();
    assert!(shown.stdout().contains("c · done"), "{}", shown.stdout());
    bench.rejoin(&["flow", "show", "ffffffffff"]).ends(4);
    flow(&bench, "steps: { a: { run: 'seq 30; head -c 5000 /dev/zero | tr \"\\0\" x' } }").done();
    assert!(
        bench
            .rejoin(&["flow", "show"])
            .done()
            .stdout()
            .ends_with("  20\n  … 11 lines more; --json has all\n")
    );
    let listed = bench.rejoin(&["flow", "ls", "--json"]).done().json();
    assert_eq!((&listed[0]["done"], &listed[1]["id"]), (&1.into(), &id.as_str().into()));
    let file = bench.home().join(format!("flows/{id}.jsonl"));
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
}
