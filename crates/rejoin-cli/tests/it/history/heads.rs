//! `branch` and `rewind`: the head moves, nothing is deleted.

use serde_json::Value;

use crate::support::Bench;

/// Three turns, a to c; gives the session.
fn three_turns(bench: &Bench) -> String {
    let session = bench.first("one MARK-a").done().session();
    bench.next("two MARK-b").done();
    bench.next("three MARK-c").done();
    session
}

#[test]
fn what_was_taken_back_is_not_in_a_resumed_memory_and_comes_back_with_its_session() {
    let bench = Bench::new();
    let session = three_turns(&bench);
    let third = bench.show()["head"].as_str().unwrap().to_owned();
    bench.rejoin(&["rewind", "@"]).done().tells(&["after turn 2", "nothing is deleted"]);
    bench.next("another MARK-d").done().fresh("history_changed", 2).knows(&["a", "b", "d"]);
    bench.rejoin(&["branch", "@", "--at", &third[..8]]).done();
    bench.next("on MARK-e").done().resumed(&session, 0).knows(&["a", "b", "c", "e"]);
    assert_eq!(
        bench.rejoin(&["show", "--tree", "--json"]).done().json()["turns"].as_array().unwrap().len(),
        5
    );
}

#[test]
fn before_the_first_turn_is_a_place_too() {
    let bench = Bench::new();
    three_turns(&bench);
    bench.rejoin(&["rewind", "@", "3"]).done().tells(&["before the first turn"]);
    assert!(bench.rejoin(&["show", "--tree"]).done().stdout().ends_with("← head: before the first turn\n"));
    let id = bench.conversations()[0]["id"].as_str().unwrap()[..8].to_owned();
    let words = format!("conversation {id} from its beginning");
    for more in [&["--dry-run"][..], &[]] {
        bench.rejoin(&["run", "-c", "anew MARK-x"]).with(more).done().tells(&[&words]);
    }
    bench.rejoin(&["rewind", "@"]).done();
    bench.next("anew MARK-d").done().fresh("first_turn", 0).knows(&["d"]);
    bench
        .rejoin(&["rewind", "@", "2"])
        .ends(2)
        .tells(&["2 turns back is too far: the path to the head has only 1"]);
    bench.rejoin(&["rewind", "@", "0"]).ends(2);
}

#[test]
fn a_named_branch_grows_with_its_turns_and_is_found_again() {
    let bench = Bench::new();
    let session = three_turns(&bench);
    bench.rejoin(&["branch", "@", "--at", "1", "--name", "idea"]).done().tells(&["on branch idea"]);
    bench.next("idea MARK-d").done().fresh("history_changed", 1);
    let idea = bench.next("more MARK-e").done().session();
    bench.rejoin(&["branch", "@", "--at", "1", "--name", "idea"]).ends(2).tells(&["has a branch \"idea\""]);
    let three = bench.rejoin(&["show", "--tree", "--json"]).done().json()["turns"][2]["id"].clone();
    bench.rejoin(&["rewind", "@", "--to", three.as_str().unwrap()]).done();
    bench.next("main MARK-f").done().resumed(&session, 0).knows(&["a", "b", "c", "f"]);
    bench.rejoin(&["branch", "@", "--at", "idae"]).ends(4).tells(&["did you mean \"idea\"?"]);
    bench.rejoin(&["branch", "@", "--at", "idea"]).done();
    bench.next("back MARK-g").done().resumed(&idea, 0).knows(&["a", "d", "e", "g"]);
    let shown = bench.show();
    assert_eq!(shown["branches"]["idea"], shown["head"]);
    assert!(bench.rejoin(&["show"]).done().stdout().ends_with("on branch idea\n"));
}

#[test]
fn a_list_tells_the_branch_or_how_many_there_are() {
    let bench = Bench::new();
    three_turns(&bench);
    let listed = || {
        let one = bench.conversations().remove(0);
        (one["branch"].clone(), one["branches"].clone(), bench.rejoin(&["ls"]).done().stdout().to_owned())
    };
    assert!(matches!(listed(), (Value::Null, count, text) if count == 1 && !text.contains("branch")));
    bench.rejoin(&["branch", "@", "--at", "1"]).done();
    bench.next("other").done();
    assert!(matches!(listed(), (Value::Null, count, text) if count == 2 && text.contains(" 2 branches ")));
    bench.rejoin(&["branch", "@", "--at", "1", "--name", "idea"]).done();
    bench.next("another").done();
    assert!(
        matches!(listed(), (name, count, text) if name == "idea" && count == 3 && text.contains(" idea "))
    );
}

#[test]
fn a_turn_that_starts_elsewhere_leaves_the_branch_behind() {
    let bench = Bench::new();
    three_turns(&bench);
    bench.rejoin(&["branch", "@", "--at", "@", "--name", "main"]).done();
    let before = bench.show()["head"].clone();
    bench.next("elsewhere MARK-d").with(&["--checkpoint", "@~1"]).done().knows(&["a", "b", "d"]);
    assert_eq!(bench.show()["branches"]["main"], before);
}

#[test]
fn messages_are_named_in_many_ways_and_wrong_ones_are_told() {
    let bench = Bench::new();
    three_turns(&bench);
    let second = bench.show()["turns"][1].clone();
    let answer = second["messages"][1]["id"].as_str().unwrap().to_owned();
    for name in ["2", "@~1", "@~", &answer, &answer[..8]] {
        bench.rejoin(&["branch", "@", "--at", name]).done().tells(&["after turn 2"]);
        bench.rejoin(&["branch", "@", "--at", second["id"].as_str().unwrap()]).done();
        let third = bench.rejoin(&["show", "--tree", "--json"]).done().json()["turns"][2]["id"].clone();
        bench.rejoin(&["branch", "@", "--at", third.as_str().unwrap()]).done();
    }
    for (name, words) in
        [("7", "no turn 7"), ("@~9", "before the first"), ("zzz", "no message"), ("", "no message")]
    {
        bench.rejoin(&["branch", "@", "--at", name]).ends(4).tells(&[words]);
    }
}

#[test]
fn nothing_is_moved_while_a_turn_runs() {
    let bench = Bench::after_a_turn();
    let bundle = bench.outside("out").join("bundle").to_str().unwrap().to_owned();
    bench.rejoin(&["export", "@", "--format", "bundle", "--to", &bundle]).done();
    let mut live = bench.next("SLOW 800 MARK-b").start();
    live.hears("text_delta");
    let before = bench.records().len();
    bench.rejoin(&["rewind", "@"]).ends(6).tells(&["in use"]);
    bench.rejoin(&["edit", "@", "1", "-f", "-"]).given("x").ends(6);
    bench.rejoin(&["rm", "@", "--yes"]).ends(6);
    bench.rejoin(&["import", &bundle]).ends(6);
    bench.rejoin(&["name", "@", "release"]).done();
    bench.rejoin(&["tag", "@", "+urgent"]).done();
    assert!(bench.records().len() >= before + 2, "names and labels need not wait");
    live.ends(0);
    assert_eq!(bench.show()["name"], "release");
}

#[test]
fn a_tree_is_drawn_with_the_way_to_the_head_straight_down() {
    let bench = Bench::new();
    three_turns(&bench);
    bench.rejoin(&["branch", "@", "--at", "1", "--name", "idea"]).done();
    bench.next("other").done();
    let drawn = bench.rejoin(&["show", "--tree"]).done();
    let lines: Vec<&str> = drawn.stdout().lines().skip(1).map(str::trim_end).collect();
    let shape: Vec<String> =
        lines.iter().map(|line| line.chars().take_while(|c| "│├─ ●○".contains(*c)).collect()).collect();
    assert_eq!(shape, ["● ", "├─○ ", "│ ○ ", "● "], "{}", drawn.stdout());
    assert!(lines[3].ends_with("[idea] ← head"), "{}", drawn.stdout());
}
