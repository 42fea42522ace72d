//! Other agents: they are told the history, and on the way back what was missed.

use crate::support::Bench;

#[test]
fn another_agent_gets_the_history_and_the_first_one_what_it_missed() {
    let bench = Bench::new();
    let first = bench.first("hello MARK-a").done();
    let other = bench.hand_to("demo2", "review MARK-b").done();
    other.fresh("no_session", 1).knows(&["a", "b"]).sent_with(&["hello MARK-a", "agent=\"demo\""]);
    bench.next("more MARK-c").done().resumed(&other.session(), 0).sent_only("more MARK-c");

    let back = bench.hand_to("demo", "go on MARK-d").done();
    back.resumed(&first.session(), 2).knows(&["a", "b", "c", "d"]);
    back.sent_with(&["review MARK-b", "more MARK-c", "agent=\"demo2\"", "go on MARK-d"]);
    assert!(!back.sent().contains("hello MARK-a"), "it knows that already: {}", back.sent());
    assert!(!back.sent().contains("you may know"), "it was never sent: {}", back.sent());

    let again = bench.hand_to("demo2", "and you MARK-e").done();
    again.resumed(&other.session(), 1).knows(&["a", "b", "c", "d", "e"]);
    bench.next("alone MARK-f").done().sent_only("alone MARK-f");
}

#[test]
fn with_the_scope_own_an_agent_knows_only_its_turns() {
    let bench = Bench::new();
    let first = bench.first("hello MARK-a").with(&["--scope", "own"]).done();
    let other = bench.hand_to("demo2", "hello MARK-b").done();
    other.fresh("no_session", 0).sent_only("hello MARK-b").knows(&["b"]);
    let back = bench.hand_to("demo", "go on MARK-c").done();
    back.resumed(&first.session(), 0).sent_only("go on MARK-c").knows(&["a", "c"]);
    bench.hand_to("demo2", "go on MARK-d").done().resumed(&other.session(), 0).knows(&["b", "d"]);
}

#[test]
fn the_scope_is_chosen_when_a_conversation_begins() {
    let bench = Bench::after_a_turn();
    bench.next("x").with(&["--scope", "own"]).ends(2).tells(&["scope", "begins"]);
}

#[test]
fn what_another_agent_failed_at_is_told() {
    let bench = Bench::new();
    let first = bench.first("hello MARK-a").done();
    bench.hand_to("demo2", "try MARK-b\nFAIL server overloaded").ends(1);
    let back = bench.hand_to("demo", "you then MARK-c").done();
    back.resumed(&first.session(), 1).knows(&["a", "b", "c"]).sent_with(&["ended=\"failed\""]);
}
