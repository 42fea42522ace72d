//! Failures: which ones cost the session, and which are the weather.

use crate::support::Bench;

#[test]
fn transient_failures_keep_the_session() {
    let bench = Bench::new();
    let first = bench.first("hello MARK-a").done();
    for (at, class) in ["rate_limit", "server", "network", "login", "quota"].into_iter().enumerate() {
        let mark = ["b", "c", "d", "e", "f"][at];
        for _ in 0..2 {
            let failed = bench.next(&format!("try MARK-{mark}\nFAIL {class} not now")).ends(1);
            failed.came_to("failed", Some(class));
            assert_eq!(failed.result()["plan"]["decision"], "resume", "{class}");
        }
        let said = bench.next(&format!("again MARK-{mark}")).done();
        said.resumed(&first.session(), 2);
        assert!(said.sent().contains("you may know this turn already"), "{}", said.sent());
    }
    bench.next("all? MARK-g").done().sent_only("all? MARK-g").knows(&["a", "b", "c", "d", "e", "f", "g"]);
}

#[test]
fn a_poisoned_session_is_retired_at_once() {
    for class in ["context_overflow", "invalid_history"] {
        let bench = Bench::new();
        let first = bench.first("hello MARK-a").done();
        bench.next(&format!("try MARK-b\nFAIL {class} no")).ends(1).resumed(&first.session(), 0);
        let said = bench.next("again MARK-c").done();
        said.fresh("session_retired", 2).knows(&["a", "b", "c"]);
        assert_ne!(said.session(), first.session());
        bench.next("on MARK-d").done().resumed(&said.session(), 0).sent_only("on MARK-d");
    }
}

#[test]
fn an_overflow_halves_what_is_replayed() {
    let bench = Bench::new();
    bench.config("[agents.demo]\nreplay_budget = 40000\n");
    bench.first(&format!("{} MARK-a", "word ".repeat(5000))).done();
    bench.next("FAIL context_overflow full").ends(1);
    let said = bench.next("again MARK-b").done();
    said.fresh("session_retired", 2);
    said.warned("lossy");
    assert!(said.sent().len() < 23_000, "{}", said.sent().len());
}

#[test]
fn two_equal_lasting_failures_retire_a_session() {
    let bench = Bench::new();
    let first = bench.first("hello MARK-a").done();
    bench.next("FAIL invalid_request no").ends(1).resumed(&first.session(), 0);
    bench.next("FAIL invalid_request no").ends(1).resumed(&first.session(), 1);
    let said = bench.next("again MARK-b").done();
    said.fresh("session_retired", 3).knows(&["a", "b"]);
    assert!(said.result()["plan"]["why"].as_str().unwrap().contains("twice"), "{}", said.result());
}

#[test]
fn two_different_lasting_failures_or_a_success_between_do_not() {
    let bench = Bench::new();
    let session = bench.first("hello MARK-a").done().session();
    bench.next("FAIL invalid_request no").ends(1);
    bench.next("FAIL other no").ends(1);
    bench.next("fine").done().resumed(&session, 2);
    bench.next("FAIL other no").ends(1);
    bench.next("FAIL rate_limit slow").ends(1);
    bench.next("fine MARK-b").done().resumed(&session, 2).knows(&["a", "b"]);
}

#[test]
fn a_first_turn_that_fails_can_be_gone_on_with() {
    let bench = Bench::new();
    let first = bench.first("hello MARK-a\nFAIL network down").ends(1);
    let said = bench.next("again MARK-b").done();
    said.resumed(&first.session(), 1).knows(&["a", "b"]);
}
