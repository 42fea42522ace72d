//! Runs belong to the project they were begun in; what is deleted of them, and what stays.

use std::path::Path;
use std::process::Command;

use super::{flow, log};
use crate::support::{Bench, Call};

const ONE: &str = "name: one\nsteps: { a: { agent: demo, prompt: hello MARK-a } }";

/// A call in another project.
fn elsewhere<'a>(bench: &'a Bench, args: &[&str]) -> Call<'a> {
    bench.rejoin(args).within(bench.outside("other"))
}

fn id_of(call: Call<'_>) -> String {
    call.done().json()["id"].as_str().unwrap().to_owned()
}

#[test]
fn the_newest_run_is_the_newest_of_this_project() {
    let bench = Bench::new();
    let here = id_of(flow(&bench, ONE));
    std::fs::write(bench.outside("other").join("other.flow.yaml"), ONE.replace("one", "two")).unwrap();
    let there = id_of(elsewhere(&bench, &["flow", "run", "other.flow.yaml", "-o", "json"]));
    let shown = |call: Call<'_>| call.done().json()["id"].as_str().unwrap().to_owned();
    assert_eq!(shown(bench.rejoin(&["flow", "show", "@", "--json"]).within(bench.subdir("deep"))), here);
    assert_eq!(shown(elsewhere(&bench, &["flow", "show", "--json"])), there);
    // By its id a run is found from anywhere.
    assert_eq!(shown(bench.rejoin(&["flow", "show", &there[..8], "--json"])), there);
    assert_eq!(bench.rejoin(&["flow", "resume", "-o", "json"]).done().json()["id"], here.as_str());
    let listed = |call: Call<'_>| {
        let listed = call.done().json();
        listed
            .as_array()
            .unwrap()
            .iter()
            .map(|run| run["id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(listed(bench.rejoin(&["flow", "ls", "--json"])), [here.as_str()]);
    assert_eq!(listed(elsewhere(&bench, &["flow", "ls", "--json"])), [there.as_str()]);
    for all in ["-A", "--all-projects"] {
        assert_eq!(listed(bench.rejoin(&["flow", "ls", "--json", all])), [there.as_str(), here.as_str()]);
    }
    let third = bench.rejoin(&["flow", "show"]).within(bench.outside("third")).ends(4);
    third.tells(&["no flow was run in this project yet", "flow ls --all-projects"]);
}

#[test]
fn a_run_is_deleted_and_the_conversations_of_its_steps_stay() {
    let bench = Bench::new();
    let id = id_of(flow(&bench, ONE));
    bench.rejoin(&["flow", "rm", "@"]).ends(2).tells(&["would delete 1 run for good", "--yes"]);
    bench.rejoin(&["flow", "rm", "@", &id[..8], "--yes"]).done().tells(&[&format!("deleted {}", &id[..8])]);
    bench.rejoin(&["flow", "show", &id]).ends(4);
    bench.rejoin(&["flow", "rm", &id, "--yes"]).ends(4);
    assert_eq!(bench.conversations().len(), 1);
}

#[test]
fn old_runs_are_pruned_and_others_kept() {
    let bench = Bench::new();
    flow(&bench, ONE).done();
    let old = log(&bench).unwrap();
    assert!(Command::new("touch").args(["-d", "10 days ago"]).arg(&old).status().unwrap().success());
    let new = id_of(flow(&bench, ONE));
    let prune = |more: &[&str]| bench.rejoin(&["flow", "prune", "--older-than", "7d"]).with(more);
    prune(&[]).ends(2);
    let shown = prune(&["--dry-run"]).done();
    assert_eq!(shown.stdout().lines().count(), 1, "{}", shown.stdout());
    elsewhere(&bench, &["flow", "prune", "--older-than", "7d", "--yes"])
        .done()
        .tells(&["nothing is that old"]);
    assert!(old.exists());
    prune(&["--yes"]).done();
    assert!(!old.exists() && bench.home().join(format!("flows/{new}.jsonl")).exists());
}

#[test]
fn a_run_that_goes_on_is_not_deleted() {
    let bench = Bench::new();
    let marker = bench.project().join("began");
    let yaml = format!("steps: {{ a: {{ run: 'touch {}; sleep 600' }} }}", marker.display());
    bench.file("long.flow.yaml", yaml);
    let live = bench.rejoin(&["flow", "run", "long.flow.yaml"]).start();
    crate::support::eventually("the step", || marker.exists().then_some(()));
    bench.rejoin(&["flow", "rm", "@", "--yes"]).ends(6).tells(&["kept ", "is going on"]);
    bench.rejoin(&["flow", "prune", "--older-than", "0", "--yes"]).done().tells(&["nothing is that old"]);
    assert!(log(&bench).as_deref().is_some_and(Path::exists));
    bench.rejoin(&["flow", "cancel", "@"]).done();
    drop(live);
}

#[test]
fn conversations_of_flows_are_marked_and_can_be_left_out() {
    let bench = Bench::new();
    let own = bench.first("hello").done().conversation();
    let yaml = "
steps:
  a: { agent: demo, prompt: one }
  b: { continue_from: a, prompt: two }
  c: { fork_from: a, prompt: three }
";
    flow(&bench, yaml).done();
    let listed = bench.conversations();
    let tags: Vec<String> = listed.iter().map(|one| one["tags"].to_string()).collect();
    assert_eq!(tags, ["[\"flow\"]", "[\"flow\"]", "[]"]);
    let left = bench.rejoin(&["ls", "--no-flows", "--json", "--limit", "1"]).done().json();
    assert_eq!((left.as_array().unwrap().len(), &left[0]["id"]), (1, &own.as_str().into()));
    let shown = bench.rejoin(&["ls"]).done();
    assert_eq!(shown.stdout().matches("+flow").count(), 2, "{}", shown.stdout());
    bench.rejoin(&["rm", "--yes", &own]).done();
    bench.rejoin(&["ls", "--no-flows"]).done().tells(&["`rejoin ls` lists all"]);
}
