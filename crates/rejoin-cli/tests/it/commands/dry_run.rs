//! `--dry-run`: the plan, and nothing else.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use crate::support::Bench;

/// Every file below the home with its content.
fn content(bench: &Bench) -> BTreeMap<PathBuf, Vec<u8>> {
    let read = |path: &PathBuf| fs::read(bench.home().join(path)).unwrap_or_default();
    bench.files().into_iter().map(|path| (path.clone(), read(&path))).collect()
}

#[test]
fn nothing_is_run_or_written() {
    let bench = Bench::after_a_turn();
    let before = content(&bench);
    for args in [
        &["-a", "demo"][..],
        &["-c"],
        &["-c", "-a", "demo2"],
        &["-c", "--fresh-session"],
        &["-s", "fresh-name", "-a", "demo"],
    ] {
        let said = bench.rejoin(&["run", "--dry-run", "WRITE out.txt hello"]).with(args).done();
        assert!(said.stdout().contains("nothing was run"), "{}", said.stdout());
    }
    assert!(!bench.project().join("out.txt").exists());
    let locks = |path: &PathBuf| !path.starts_with("locks");
    let after: BTreeMap<_, _> = content(&bench).into_iter().filter(|(path, _)| locks(path)).collect();
    let before: BTreeMap<_, _> = before.into_iter().filter(|(path, _)| locks(path)).collect();
    assert_eq!(after, before);
}

#[test]
fn the_plan_is_shown_for_people() {
    let bench = Bench::new();
    let first = bench.first("hello MARK-a").done();
    let said = bench.rejoin(&["run", "-c", "--dry-run", "go on"]).done();
    let lines: Vec<&str> = said.stdout().lines().collect();
    let session = first.session();
    assert_eq!(lines[0], format!("decision   would resume {session}"));
    assert_eq!(lines[1], format!("directory  {}", bench.project().display()));
    assert!(lines[2].contains(&format!("__demo-agent --resume {session}")), "{}", lines[2]);
    assert_eq!(lines[3..], ["stdin      5 bytes", "nothing was run"]);
    said.tells(&[&format!("● demo · would resume {}", &session[..8])]);
}

#[test]
fn the_plan_is_what_then_happens() {
    let bench = Bench::after_a_turn();
    bench.hand_to("demo2", "take over MARK-b").done();
    let plan = bench.rejoin(&["run", "-c", "-a", "demo", "--dry-run", "-o", "json", "go on MARK-c"]);
    let plan = plan.done().json();
    let done = bench.hand_to("demo", "go on MARK-c").done();
    assert_eq!(plan["plan"], done.result()["plan"]);
    assert_eq!(plan["bytes"], done.result()["bytes"]);
    assert_eq!(plan["turn_number"], done.events()[0]["number"]);
    assert_eq!(plan["conversation"], done.conversation());
    assert_eq!(plan["prompt"].as_str().unwrap().len(), done.sent().len());
}

#[test]
fn what_would_be_refused_is_refused() {
    let bench = Bench::after_a_turn();
    bench.rejoin(&["run", "--dry-run", "-r", "4f1c2a9e", "x"]).ends(4);
    bench.rejoin(&["run", "--dry-run", "-c", "x", "--", "--foo"]).ends(2);
    bench.rejoin(&["run", "--dry-run", "-c", "--scope", "own", "x"]).ends(2).tells(&["--scope"]);
    bench.rejoin(&["run", "--dry-run", "-c", "--cwd", "missing", "x"]).ends(4).tells(&["missing"]);
}

#[test]
fn a_warning_of_the_turn_is_shown_beforehand() {
    let bench = Bench::new();
    let said = bench.rejoin(&["run", "-c", "-a", "demo", "--dry-run", "x"]).done();
    said.tells(&["nothing to continue"]);
}

#[test]
fn a_name_that_is_free_stays_so_and_nothing_is_written() {
    let bench = Bench::after_a_turn();
    let before = bench.files();
    bench.rejoin(&["run", "-s", "release", "-a", "demo", "--dry-run", "hello"]).done();
    assert_eq!(bench.files(), before);
    let bench = Bench::new();
    bench.rejoin(&["run", "-s", "release", "-a", "demo", "--dry-run", "hello"]).done();
    bench.rejoin(&["run", "-c", "-a", "demo", "--dry-run", "hello"]).done();
    assert!(!bench.home().exists());
}
