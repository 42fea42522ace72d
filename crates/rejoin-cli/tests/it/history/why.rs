//! `why`: each guard with its two values.

use crate::support::Bench;

#[test]
fn a_session_that_passes_every_guard() {
    let bench = Bench::new();
    let session = bench.first("one MARK-a").done().session();
    let said = bench.rejoin(&["why"]).done();
    assert!(
        said.stdout().starts_with(&format!("next turn on demo: resume {}\n", &session[..8])),
        "{}",
        said.stdout()
    );
    assert!(!said.stdout().contains('✗'), "{}", said.stdout());
    let why = bench.rejoin(&["why", "--json"]).done().json();
    let keys: Vec<&String> = why.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        [
            "agent",
            "can_resume",
            "checks",
            "conversation",
            "history_bytes",
            "plan",
            "program",
            "replay_bytes",
            "session",
            "version"
        ]
    );
    let guards: Vec<&str> =
        why["checks"].as_array().unwrap().iter().map(|check| check["guard"].as_str().unwrap()).collect();
    let expected = [
        "in_use",
        "same_program",
        "same_home",
        "same_store",
        "same_directory",
        "same_scope",
        "history_unchanged",
        "still_stored",
    ];
    assert_eq!(guards, expected);
}

/// The guards that fail, in words.
fn against(bench: &Bench, args: &[&str]) -> Vec<String> {
    let said = bench.rejoin(&["why"]).with(args).done();
    let lines = said.stdout().lines().filter(|line| line.contains('✗'));
    lines.map(|line| line.split_whitespace().skip(1).collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn an_edit_is_named_with_its_turn_and_its_time() {
    let bench = Bench::after_a_turn();
    bench.next("two MARK-b").done();
    bench.rejoin(&["edit", "@", "1", "-f", "-"]).given("one, reworded").done();
    let expected = "history unchanged turn 1 was edited just now; the session saw it before the edit";
    assert_eq!(against(&bench, &[]), [expected]);
    assert_eq!(bench.rejoin(&["why", "--json"]).done().json()["plan"]["reason"], "history_changed");
}

#[test]
fn turns_that_were_taken_back_are_counted() {
    let bench = Bench::after_a_turn();
    bench.next("two MARK-b").done();
    bench.next("three MARK-c").done();
    bench.rejoin(&["rewind", "@", "2"]).done();
    let expected = "history unchanged the session holds 3 turns, 2 of them on another branch or taken back";
    assert_eq!(against(&bench, &[]), [expected]);
}

#[test]
fn a_lost_session_another_agent_and_a_first_turn() {
    let bench = Bench::new();
    let session = bench.first("one MARK-a").done().session();
    assert_eq!(against(&bench, &["-a", "demo2"]), ["a session to resume no session of this agent here yet"]);
    std::fs::remove_file(bench.stored("demo", &session)).unwrap();
    assert_eq!(against(&bench, &[]), ["session still stored gone"]);
    bench.rejoin(&["rewind", "@"]).done();
    assert_eq!(against(&bench, &[]), ["a session to resume first turn"]);
    bench.rejoin(&["why", "nonsense"]).ends(4);
}
