//! `--session-dir`: the agent's sessions in a directory of the user's choice.

use std::fs;
use std::path::Path;

use crate::support::Bench;

fn sessions(dir: &Path) -> usize {
    fs::read_dir(dir).map_or(0, Iterator::count)
}

fn text(dir: &Path) -> &str {
    dir.to_str().unwrap()
}

#[test]
fn sessions_are_kept_there_and_the_conversation_remembers() {
    let bench = Bench::new();
    let there = bench.outside("sessions");
    let first = bench.first("hello MARK-a").with(&["--session-dir", text(&there)]).done();
    assert_eq!(sessions(&there), 1);
    assert!(!bench.home().join("demo-agent").exists(), "and nowhere else");
    let pins = bench.show()["pins"].clone();
    assert_eq!(pins[0]["store"], text(&there));

    let second = bench.next("and? MARK-b").done();
    second.resumed(&first.session(), 0).knows(&["a", "b"]);
    assert_eq!(sessions(&there), 1);
    let third = bench.next("named MARK-c").with(&["--session-dir", text(&there)]).done();
    third.resumed(&first.session(), 0).knows(&["a", "b", "c"]);
}

#[test]
fn another_one_is_another_store_and_the_first_session_waits() {
    let bench = Bench::new();
    let [one, two] = ["one", "two"].map(|name| bench.outside(name));
    let first = bench.first("hello MARK-a").with(&["--session-dir", text(&one)]).done();
    let moved = bench.next("move MARK-b").with(&["--session-dir", text(&two)]).done();
    moved.fresh("store_changed", 1).knows(&["a", "b"]);
    let reason = moved.result()["plan"].clone();
    assert_eq!((&reason["was"], &reason["now"]), (&text(&one).into(), &text(&two).into()));
    bench.next("stay MARK-c").done().resumed(&moved.session(), 0);
    let back = bench.next("back MARK-d").with(&["--session-dir", text(&one)]).done();
    back.resumed(&first.session(), 2).knows(&["a", "b", "c", "d"]);
}

#[test]
fn an_empty_one_is_the_agents_own_place_again() {
    let bench = Bench::new();
    let there = bench.outside("sessions");
    bench.first("hello MARK-a").with(&["--session-dir", text(&there)]).done();
    let own = bench.next("home MARK-b").with(&["--session-dir", ""]).done();
    own.fresh("store_changed", 1).knows(&["a", "b"]);
    assert!(bench.stored("demo", &own.session()).exists());
    bench.next("stay MARK-c").done().resumed(&own.session(), 0);
}

#[test]
fn it_is_for_one_agent_of_the_conversation() {
    let bench = Bench::new();
    let there = bench.outside("sessions");
    bench.first("hello MARK-a").with(&["--session-dir", text(&there)]).done();
    let other = bench.hand_to("demo2", "you MARK-b").done();
    assert!(bench.stored("demo2", &other.session()).exists());
}

#[test]
fn a_directory_that_is_not_there_is_refused() {
    let bench = Bench::new();
    let there = bench.outside("sessions");
    bench.first("x").with(&["--session-dir", "missing"]).ends(4).tells(&["missing", "make it first"]);
    let file = bench.file("file", "x");
    bench.first("x").with(&["--session-dir", text(&file)]).ends(4).tells(&["no directory for sessions"]);
    assert!(bench.journals().is_empty());
    bench.first("hello MARK-a").with(&["--session-dir", text(&there)]).done();
    fs::remove_dir_all(&there).unwrap();
    bench.next("and?").ends(4).tells(&["is gone", "--session-dir"]);
    bench
        .next("and? MARK-b")
        .with(&["--session-dir", ""])
        .done()
        .fresh("store_changed", 1)
        .knows(&["a", "b"]);
}

#[test]
fn agents_that_cannot_say_so() {
    let bench = Bench::new();
    let there = bench.outside("sessions");
    bench.config("[agents.openai]\nbase_url = \"http://127.0.0.1:9/v1\"\nmodel = \"m\"\n");
    let call = bench.rejoin(&["run", "-a", "openai", "--session-dir", text(&there), "x"]);
    call.ends(2).tells(&["keeps no sessions"]);
    bench
        .first("x")
        .with(&["--session-dir", text(&there), "--ephemeral"])
        .ends(2)
        .tells(&["cannot be used with"]);
}

#[test]
fn the_plan_shows_it() {
    let bench = Bench::new();
    let there = bench.outside("sessions");
    let said = bench.rejoin(&["run", "-a", "demo", "--session-dir", text(&there), "--dry-run", "x"]).done();
    assert!(said.stdout().contains(&format!("--store {}", there.display())), "{}", said.stdout());
    assert_eq!(sessions(&there), 0);
}
