//! What commands are about when they are not told: the newest conversation, this project, this directory.

use crate::support::{Bench, Call};

#[test]
fn without_a_conversation_it_is_the_newest_one() {
    let bench = Bench::new();
    bench.first("hello MARK-a").done();
    let id = bench.first("hello MARK-b").done().conversation();
    bench.next("on MARK-c").done();
    let short = &id[..8];
    bench.rejoin(&["name", "release"]).done().tells(&[short, "is called \"release\" now"]);
    assert_eq!(bench.rejoin(&["tag", "+x", "+y"]).done().stdout(), "x\ny\n");
    assert_eq!(bench.rejoin(&["tag", "-x"]).done().stdout(), "y\n");
    assert_eq!(bench.rejoin(&["tag"]).done().stdout(), "y\n");
    assert!(bench.rejoin(&["export"]).done().stdout().contains("MARK-b"));
    bench.rejoin(&["exists"]).done();
    bench.rejoin(&["edit", "1", "-f", "-"]).given("hello MARK-d").done();
    assert!(bench.rejoin(&["show"]).done().stdout().contains("> hello MARK-d"));
    bench.rejoin(&["edit", "-f", "-"]).given("on MARK-e").done();
    assert!(bench.rejoin(&["show"]).done().stdout().contains("> on MARK-e"));
    bench.rejoin(&["rewind"]).done().tells(&[&format!("the next turn of {short} goes on after turn 1")]);
    bench.rejoin(&["branch", "--at", "1", "--name", "idea"]).done().tells(&[short, "on branch idea"]);
    bench.rejoin(&["retry", "-o", "json"]).done();
    // What deletes is told what.
    bench.rejoin(&["rm", "--yes"]).ends(2);
    assert_eq!(bench.conversations().len(), 2);
}

#[test]
fn a_name_is_taken_away() {
    let bench = Bench::new();
    let id = bench.first("hello").with(&["-s", "release"]).done().conversation();
    bench.rejoin(&["exists", "release"]).done();
    let said = bench.rejoin(&["name", "release", "--remove"]).done();
    said.tells(&[&id[..8], "is not called \"release\" any more"]);
    let said = bench.rejoin(&["exists", "release"]).ends(4);
    assert_eq!((said.stdout(), said.stderr()), ("", ""), "the exit code says it");
    assert!(bench.conversations()[0]["name"].is_null());
    assert!(bench.show()["name"].is_null());
    bench.rejoin(&["name", "--remove"]).done().tells(&["has no name"]);
    // It is free again.
    bench.first("another").with(&["-s", "release"]).done();
    assert_eq!(bench.conversations().len(), 2);
    bench.rejoin(&["name", &id, "release"]).ends(2).tells(&["has the name \"release\" already"]);
    bench.rejoin(&["name", "x", "y", "--remove"]).ends(2);
    bench.rejoin(&["name"]).ends(2).tells(&["no name"]);
}

#[test]
fn another_directory_can_be_named() {
    let bench = Bench::new();
    let project = bench.project();
    let project = project.to_str().unwrap();
    let call = |args: &[&str]| bench.rejoin(args).within(bench.outside("elsewhere"));
    call(&["-C", project, "run", "-a", "demo", "hello"]).done();
    assert_eq!(call(&["ls", "--json"]).done().json(), serde_json::json!([]));
    for args in [["-C", project, "ls", "--json"], ["ls", "--json", "-C", project]] {
        assert_eq!(call(&args).done().json()[0]["project"], project);
    }
    call(&["-C", "/nowhere", "ls"]).ends(4).tells(&["cannot go to /nowhere"]);
    let file = bench.file("file", "");
    call(&["-C", file.to_str().unwrap(), "ls"]).ends(2).tells(&["cannot go to "]);
    // Tab knows it, too.
    let offered = call(&["--", "rejoin", "-C", project, "show", ""]).env("_REJOIN_COMPLETE", "fish").done();
    assert!(offered.stdout().contains("\thello\n"), "{}", offered.stdout());
}

#[test]
fn all_projects_are_meant_by_one_flag_everywhere() {
    let bench = Bench::after_a_turn();
    let call = |args: &[&str]| bench.rejoin(args).within(bench.outside("elsewhere"));
    for all in ["-A", "--all-projects"] {
        assert_eq!(call(&["ls", "--json", all]).done().json().as_array().unwrap().len(), 1);
        call(&["search", "hello", all]).done();
        assert_eq!(call(&["stats", "--json", all]).done().json()["all"]["turns"], 1);
        call(&["prune", "--older-than", "1d", "--dry-run", all]).done();
        call(&["fsck", all]).done().tells(&["1 conversation checked"]);
        call(&["flow", "ls", all]).done();
    }
    call(&["fsck"]).done().tells(&["0 conversations checked"]);
    call(&["fsck", "--all"]).done().tells(&["1 conversation checked"]);
    call(&["fsck", "@", "-A"]).ends(2);
}

#[test]
fn words_that_were_not_quoted_are_told_so() {
    let bench = Bench::new();
    for command in ["run", "chat"] {
        bench
            .rejoin(&[command, "fix", "the", "bug"])
            .ends(2)
            .tells(&["quote the prompt", "rejoin run \"fix the bug\""]);
    }
    bench.rejoin(&["run", "--nope"]).ends(2).tells(&["give a prompt that begins with '-' on standard input"]);
    let said = bench.rejoin(&["run", "-a", "nope", "x"]).ends(2);
    assert!(!said.tells(&["unknown agent \"nope\"; known are "]).stderr().contains("did you mean"));
}

#[test]
fn numbers_that_mean_nothing_are_refused_in_words() {
    let bench = Bench::new();
    let refused = |args: &[&str], words: &str| {
        Call::new(&bench, args).ends(2).tells(&[words]);
    };
    for command in [&["ls", "--since"][..], &["stats", "--since"], &["prune", "--older-than"]] {
        for time in ["99999999999999w", "18446744073709551615", "99999999999999999999"] {
            refused(&[command, &[time]].concat(), "is too long a time");
        }
        Call::new(&bench, &[command, &["99999d"]].concat()).done();
    }
    refused(&["ls", "--limit", "0"], "it must be a whole number of at least 1");
    refused(&["search", "x", "--limit", "0"], "it must be a whole number of at least 1");
    refused(&["ls", "--limit", "many"], "it must be a whole number of at least 1");
}
