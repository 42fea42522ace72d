//! Two at once.

use crate::support::Bench;

#[test]
fn the_second_is_told_who_is_at_it() {
    let bench = Bench::after_a_turn();
    let mut first = bench.next("HANG").start();
    first.hears("session");
    let said = bench.next("me too MARK-b").ends(6);
    let owner = format!("process {}", first.pid());
    said.tells(&["is in use", &owner, "a turn of demo", "--wait"]);
    assert_eq!(said.stdout(), "", "the stream has not begun");
    bench.next("me too").with(&["--wait=200ms"]).ends(6).tells(&[&owner]);
    assert_eq!(bench.conversations()[0]["state"], "running");
    assert!(bench.rejoin(&["show"]).done().stdout().contains("running now"));
    first.kill();
    bench.comes_to_rest();
    assert!(!bench.show().to_string().contains("MARK-b"), "nothing of it was written");
}

#[test]
fn with_wait_both_are_remembered() {
    let bench = Bench::new();
    let first = bench.first("hello MARK-a").done();
    let mut one = bench.next("one MARK-b SLOW 20").start();
    one.hears("text_delta");
    let two = bench.next("two MARK-c").with(&["--wait"]).done();
    one.ends(0);
    two.resumed(&first.session(), 0).sent_only("two MARK-c").knows(&["a", "b", "c"]);
    assert_eq!(bench.show()["turns"].as_array().unwrap().len(), 3);
}

#[test]
fn waiting_does_not_count_as_time_of_the_turn() {
    let bench = Bench::after_a_turn();
    let mut one = bench.next("one SLOW 60").start();
    one.hears("text_delta");
    bench.next("two MARK-b").with(&["--wait", "--timeout", "800ms"]).done().knows(&["a", "b"]);
    one.ends(0);
}

#[test]
fn many_that_wait_are_all_remembered() {
    let bench = Bench::after_a_turn();
    let all: Vec<_> = ["b", "c", "d", "e", "f"]
        .iter()
        .map(|mark| bench.next(&format!("MARK-{mark}")).with(&["--wait"]).start())
        .collect();
    for one in all {
        one.ends(0);
    }
    let text = bench.next("all? MARK-g").done().text("text");
    assert!(text.contains("SEEN n=7"), "{text}");
}

#[test]
fn other_conversations_are_not_held_up() {
    let bench = Bench::after_a_turn();
    let mut first = bench.next("HANG").start();
    first.hears("session");
    bench.first("a new one MARK-x").done().knows(&["x"]);
    bench.rejoin(&["ls"]).done();
    bench.rejoin(&["show"]).done();
    let dry = bench.conversations()[1]["id"].as_str().unwrap().to_owned();
    bench.rejoin(&["run", "-r", &dry, "--dry-run", "x"]).done();
    first.kill();
}

#[test]
fn of_many_that_continue_nothing_one_begins_and_the_others_go_on_with_it() {
    let bench = Bench::new();
    let turn = |mark: &str| bench.hand_to("demo", &format!("MARK-{mark}")).with(&["--wait"]).start();
    let all: Vec<_> = ["a", "b", "c", "d", "e", "f", "g", "h"].map(turn).into_iter().collect();
    for one in all {
        one.ends(0);
    }
    assert_eq!(bench.conversations().len(), 1);
    let text = bench.next("all? MARK-i").done().text("text");
    assert!(text.contains("SEEN n=9"), "{text}");
}
