//! `ls`, `search` and `stats`: what the index is for.

use std::fs;

use serde_json::{Value, json};

use super::shown::{redacted, told_story};
use crate::support::Bench;

fn ids(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect()
}

#[test]
fn ls_fits_narrow_and_wide_terminals() {
    let bench = told_story();
    let _guard = redacted(&bench);
    for columns in ["80", "120"] {
        let said = bench.rejoin(&["ls"]).env("COLUMNS", columns).done();
        let most: usize = columns.parse().unwrap();
        assert!(said.stdout().lines().all(|line| line.chars().count() <= most), "{}", said.stdout());
        insta::assert_snapshot!(format!("ls_at_{columns}_columns"), said.stdout());
    }
}

#[test]
fn ls_as_json_keeps_its_shape() {
    let bench = told_story();
    let _guard = redacted(&bench);
    insta::assert_snapshot!(bench.rejoin(&["ls", "--json", "--limit", "1"]).done().stdout());
}

#[test]
fn ls_can_be_narrowed() {
    let bench = told_story();
    let ls = |args: &[&str]| bench.rejoin(&["ls", "--json"]).with(args).done().json();
    let all = ls(&[]);
    assert_eq!(ids(&all).len(), 2);
    assert_eq!(ids(&ls(&["--limit", "1"])), ids(&all)[..1]);
    assert_eq!(ids(&ls(&["--agent", "demo2"])), ids(&all)[1..]);
    assert_eq!(ids(&ls(&["--since", "1h"])), ids(&all));
    assert!(ids(&ls(&["--since", "0s"])).is_empty());
    let said = bench.rejoin(&["ls", "--agent", "claude"]).done();
    said.tells(&["no such conversation here"]);
    bench.rejoin(&["ls", "--since", "soon"]).ends(2).tells(&["2w"]);
}

#[test]
fn search_finds_what_was_said_and_done() {
    let bench = told_story();
    let _guard = redacted(&bench);
    insta::assert_snapshot!("search_for_a_person", bench.rejoin(&["search", "mark"]).done().stdout());
    insta::assert_snapshot!(
        "search_for_a_script",
        bench.rejoin(&["search", "--json", "bug", "tell me"]).done().stdout()
    );
    let sources = |words: &[&str]| -> Vec<Value> {
        let hits = bench.rejoin(&["search", "--json"]).with(words).done().json();
        hits.as_array().unwrap().iter().map(|hit| hit["source"].clone()).collect()
    };
    assert_eq!(sources(&["release"]), ["name"]);
    assert_eq!(sources(&["versio*"])[0], "user");
    assert_eq!(sources(&["echo one", "mark", "--agent", "demo2"]), ["user"]);
}

#[test]
fn a_hit_can_be_opened_and_continued() {
    let bench = told_story();
    let hits = bench.rejoin(&["search", "--json", "bug"]).done().json();
    let id = hits[0]["conversation"].as_str().unwrap();
    assert!(bench.rejoin(&["show", id]).done().stdout().contains("find the bug"));
    let message = hits[0]["message"].as_str().unwrap();
    let said = bench.rejoin(&["run", "-o", "stream-json", "-a", "demo", "-r", id, "again MARK-z"]);
    said.with(&["--checkpoint", message]).done().knows(&["a", "z"]);
}

#[test]
fn search_says_when_there_is_nothing() {
    let bench = told_story();
    let said = bench.rejoin(&["search", "nowhere", "to", "be", "found"]).ends(4);
    said.tells(&["no turn of this project has all of: nowhere to be found", "--all-projects"]);
    assert_eq!(said.stdout(), "");
    assert_eq!(bench.rejoin(&["search", "--json", "nowhere"]).ends(4).json(), json!([]));
    bench.rejoin(&["search", "--", "--"]).ends(2).tells(&["no word in \"--\""]);
    bench.rejoin(&["search"]).ends(2);
    let other = bench.lab.make_project("other").unwrap();
    bench.rejoin(&["search", "bug"]).within(&other).ends(4);
    bench.rejoin(&["search", "bug", "--all-projects"]).within(&other).done();
}

#[test]
fn escapes_in_what_was_found_do_not_reach_the_screen() {
    let bench = told_story();
    let said = bench.rejoin(&["search", "tell me"]).done();
    assert!(!said.stdout().contains('\u{1b}'), "{:?}", said.stdout());
}

#[test]
fn stats_count_turns_and_what_resuming_saved() {
    let bench = told_story();
    bench.rejoin(&["run", "-r", "release", "and again"]).done();
    let stats = bench.rejoin(&["stats", "--json", "--by", "agent"]).done().json();
    let all = &stats["all"];
    assert_eq!((&all["conversations"], &all["turns"], &all["resumed"]), (&json!(2), &json!(5), &json!(2)));
    assert_eq!(all["fresh"], json!({ "first_turn": 2, "no_session": 1 }));
    assert_eq!((&all["failed"], &all["cut"]), (&json!(1), &json!(0)));
    assert!(all["usage"]["output"].as_u64().unwrap() > 0);
    assert!(all["bytes_saved"].as_u64().unwrap() > 0);
    assert_eq!(stats["by"]["demo"]["turns"], 3);
    assert_eq!(stats["by"]["demo2"]["turns"], 2);
    let keys: Vec<&String> = all.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        [
            "bytes_saved",
            "bytes_sent",
            "conversations",
            "cost",
            "cut",
            "failed",
            "fresh",
            "milliseconds",
            "resumed",
            "tool_calls",
            "turns",
            "usage"
        ]
    );
    let none = bench.rejoin(&["stats", "--json", "--since", "0s"]).done().json();
    assert_eq!(none["all"]["turns"], 0);
    for by in ["model", "project", "day"] {
        let said = bench.rejoin(&["stats", "--by", by]).done();
        assert!(said.stdout().contains("█"), "{}", said.stdout());
    }
}

#[test]
fn stats_for_a_person() {
    let bench = told_story();
    let _guard = redacted(&bench);
    let said = bench.rejoin(&["stats", "--by", "agent"]).env("COLUMNS", "100").done();
    let shown = said.stdout();
    // What is stored, and so what was saved, depends on the pieces in which an answer came.
    let saved = shown.lines().find_map(|line| line.strip_prefix("saved")?.split_whitespace().next()).unwrap();
    assert!((700..900).contains(&saved.parse().unwrap()), "{shown}");
    insta::assert_snapshot!(shown.replace(saved, "[N]"));
}

#[test]
fn conversations_are_named_by_how_long_ago() {
    let bench = told_story();
    assert!(bench.rejoin(&["show", "@"]).done().stdout().contains("bump the version"));
    assert!(bench.rejoin(&["show", "@~0"]).done().stdout().contains("bump the version"));
    assert!(bench.rejoin(&["show", "@~1"]).done().stdout().contains("find the bug"));
    bench.rejoin(&["show", "@~2"]).ends(4).tells(&["fewer than 3 conversations"]);
    bench.rejoin(&["show", "@1"]).ends(2).tells(&["`@~1`"]);
    let older = bench.rejoin(&["run", "-o", "stream-json", "-r", "@~1", "go on MARK-n"]).done();
    assert_eq!(older.conversation(), bench.conversations()[0]["id"].as_str().unwrap());
}

#[test]
fn an_ambiguous_beginning_lists_the_titles() {
    let bench = Bench::new();
    let first = bench.first("hello there").done().conversation();
    let path = bench.journals()[0].clone();
    let twin = format!("{}-0000-4000-8000-000000000000", &first[..8]);
    let text = fs::read_to_string(&path).unwrap().replace(&first, &twin);
    fs::write(path.with_file_name(format!("{twin}.jsonl")), text).unwrap();
    let said = bench.rejoin(&["show", &first[..8]]).ends(2);
    said.tells(&["is the beginning of 2 conversations", &first, &twin, "hello there"]);
}

#[test]
fn the_index_is_private_and_can_be_deleted() {
    use std::os::unix::fs::PermissionsExt;
    let bench = told_story();
    let first = bench.rejoin(&["search", "--json", "mark"]).done().json();
    let index = bench.home().join("cache/index.sqlite");
    assert_eq!(fs::metadata(&index).unwrap().permissions().mode() & 0o777, 0o600);
    fs::write(&index, "ruined").unwrap();
    assert_eq!(bench.rejoin(&["search", "--json", "mark"]).done().json(), first);
    fs::remove_file(&index).unwrap();
    assert_eq!(bench.rejoin(&["search", "--json", "mark"]).done().json(), first);
    assert_eq!(bench.conversations().len(), 2);
}
