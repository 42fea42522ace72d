//! A turn was cut: nothing the user said is lost, nothing is taken for done.

use crate::support::Bench;

#[test]
fn a_cut_prompt_that_is_reworded_does_not_vanish() {
    let bench = Bench::new();
    let first = bench.first("hello MARK-a").done();
    let mut cut = bench.next("delete the tests MARK-b SLOW 500").start();
    cut.hears("text_delta");
    cut.interrupt();
    let cut = cut.ends(130);
    cut.resumed(&first.session(), 0).came_to("cancelled", None);

    let said = bench.next("rather fix the tests MARK-c").done();
    said.resumed(&first.session(), 1).knows(&["a", "b", "c"]).sent_with(&[
        "delete the tests MARK-b SLOW 500",
        "ended=\"cut off, commands may have run\"",
        "you may know this turn already",
        "Your last turn was cut off before it finished.",
        "Answer only the message below.",
        "rather fix the tests MARK-c",
    ]);
    bench.next("on MARK-d").done().sent_only("on MARK-d");
}

#[test]
fn a_cut_prompt_that_is_taken_back_is_not_in_a_resumed_memory() {
    let bench = Bench::new();
    let first = bench.first("hello MARK-a").done();
    let mut cut = bench.next("delete the tests MARK-b SLOW 500").start();
    cut.hears("text_delta");
    cut.interrupt();
    cut.ends(130);
    let said = bench.next("fix the tests MARK-c").with(&["--checkpoint", &first.turn()]).done();
    said.fresh("history_changed", 1).knows(&["a", "c"]);
    assert!(!said.sent().contains("MARK-b"));
}

#[test]
fn a_session_that_died_without_a_word_is_warned() {
    let bench = Bench::new();
    let first = bench.first("hello MARK-a").done();
    bench.next("try MARK-b DIE").ends(1).came_to("failed", Some("no_result"));
    let said = bench.next("again MARK-c").done();
    said.resumed(&first.session(), 1).knows(&["a", "b", "c"]);
    said.sent_with(&["Your last turn was cut off before it finished."]);
}

#[test]
fn another_agent_is_told_that_a_turn_was_cut() {
    let bench = Bench::new();
    let mut cut = bench.first("migrate MARK-a SLOW 500").start();
    cut.hears("text_delta");
    cut.interrupt();
    cut.ends(130);
    let said = bench.hand_to("demo2", "look MARK-b").done();
    said.fresh("no_session", 1).knows(&["a", "b"]);
    said.sent_with(&["ended=\"cut off, commands may have run\"", "piece 1 of 500"]);
}
