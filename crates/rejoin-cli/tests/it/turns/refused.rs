//! Sessions that the agent itself does not resume, or not honestly.

use crate::support::{Bench, Said};

/// The session was given up and the turn done in a new one, in a second run, with the whole history.
#[track_caller]
fn started_over(bench: &Bench, said: &Said, old: &str) {
    said.fresh("session_rejected", 1).knows(&["a", "b"]).came_to("completed", None);
    let result = said.result();
    assert_eq!((&result["runs"], &result["asked"]), (&2.into(), &old.into()), "{result}");
    assert_ne!(said.session(), old);
    let rejected = said.events_of("resume_rejected");
    assert_eq!((rejected.len(), &rejected[0]["session"]), (1, &old.into()));
    let sessions: Vec<_> = said.events_of("session").iter().map(|event| event["session"].clone()).collect();
    assert_eq!(sessions, [said.session()], "the wrong session is never announced");
    let answers = said.events_of("message");
    assert_eq!(answers.len(), 1, "nor anything it said: {answers:?}");

    let pins = bench.show()["pins"].as_array().unwrap().clone();
    let state =
        |session: &str| pins.iter().find(|pin| pin["session"] == session).map(|pin| pin["state"].clone());
    assert_eq!(pins.len(), 2, "{pins:?}");
    assert_eq!(state(old), Some("retired".into()), "a dead id is never kept");
    assert_eq!(state(&said.session()), Some("live".into()));
    bench.next("on MARK-c").done().resumed(&said.session(), 0).sent_only("on MARK-c").knows(&["a", "b", "c"]);
}

#[test]
fn a_refused_session_is_replaced_by_a_fresh_one_with_the_history() {
    let bench = Bench::new();
    let first = bench.first("hello MARK-a").done();
    let said = bench.next("REJECT MARK-b").done();
    started_over(&bench, &said, &first.session());
}

#[test]
fn another_session_than_asked_for_is_stopped_at_that_line() {
    // More than once: the liar may be fast enough to answer before it is stopped.
    for _ in 0..5 {
        let bench = Bench::new();
        let first = bench.first("hello MARK-a").done();
        let said = bench.next("LIE MARK-b").done();
        started_over(&bench, &said, &first.session());
    }
}

#[test]
fn a_liar_that_acts_is_not_believed_either() {
    let bench = Bench::new();
    let first = bench.first("hello MARK-a").done();
    let said = bench.next("LIE SLOW 25 MARK-b").done();
    assert_eq!(said.result()["runs"], 2);
    said.fresh("session_rejected", 1).knows(&["a", "b"]);
    assert_ne!(said.session(), first.session());
}

#[test]
fn a_session_that_comes_back_under_another_id_is_stopped_too() {
    let bench = Bench::new();
    let first = bench.first("hello MARK-a").done();
    let said = bench.next("REISSUE MARK-b").done();
    started_over(&bench, &said, &first.session());
}

#[test]
fn an_agent_that_always_refuses_is_told_the_history_every_time() {
    for twist in ["REJECT", "LIE", "REISSUE"] {
        let bench = Bench::after_a_turn();
        bench.config(&format!("[agents.demo]\nenv = {{ REJOIN_DEMO_{twist} = \"1\" }}\n"));
        bench.next("on MARK-b").done().fresh("session_rejected", 1).knows(&["a", "b"]);
        bench.next("on MARK-c").done().fresh("session_rejected", 2).knows(&["a", "b", "c"]);
    }
}

#[test]
fn a_person_is_told_in_one_line() {
    let bench = Bench::after_a_turn();
    let said = bench.rejoin(&["run", "-c", "REJECT MARK-b"]).done();
    said.tells(&["● demo · resuming", "○ demo · would not resume", "the whole history is replayed", "✓ "]);
    assert!(said.stdout().ends_with("marks=MARK-a,MARK-b\n"), "{}", said.stdout());
}

#[test]
fn a_history_that_does_not_fit_the_second_run_is_told() {
    let bench = Bench::new();
    bench.config("[agents.demo]\nreplay_budget = 2000\n");
    bench.first(&format!("{} MARK-a", "word ".repeat(2000))).done();
    let said = bench.next("REJECT MARK-b").done();
    said.fresh("session_rejected", 1).sent_with(&["left out here by rejoin"]);
    said.warned("lossy");
}

#[test]
fn bytes_of_both_runs_are_counted() {
    let bench = Bench::after_a_turn();
    let said = bench.next("REJECT MARK-b").done();
    let sent = said.sent().len() + "REJECT MARK-b".len();
    assert_eq!(said.result()["bytes"], sent);
}
