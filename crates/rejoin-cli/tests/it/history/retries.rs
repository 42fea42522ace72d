//! `retry`: a failed or cut turn goes on as a child, a completed one gets a sibling.

use crate::support::Bench;

#[test]
fn a_cut_turn_goes_on_as_a_child_in_its_own_session() {
    let bench = Bench::new();
    let first = bench.first("one MARK-a").done();
    let mut cut = bench.next("two MARK-b SLOW 500").start();
    cut.hears("text_delta");
    cut.interrupt();
    cut.ends(130);
    let again = bench.rejoin(&["retry", "@", "-o", "stream-json"]).done();
    again.resumed(&first.session(), 1).knows(&["a", "b"]).sent_with(&["you may know this turn already"]);
    let turns = bench.show()["turns"].clone();
    let states: Vec<_> = turns.as_array().unwrap().iter().map(|turn| turn["state"].clone()).collect();
    assert_eq!(states, ["completed", "cut", "completed"]);
}

#[test]
fn a_failed_turn_goes_on_by_another_agent_that_is_told_of_it() {
    let bench = Bench::new();
    bench.first("one MARK-a").done();
    bench.next("FAIL server overloaded MARK-b").ends(1);
    let again = bench.rejoin(&["retry", "@", "-a", "demo2", "-o", "stream-json"]).ends(1);
    again.fresh("no_session", 2);
    let turns = bench.show()["turns"].clone();
    assert_eq!(turns[2]["parent"], turns[1]["id"]);
}

#[test]
fn a_completed_turn_gets_a_sibling_with_the_same_words() {
    let bench = Bench::new();
    bench.first("one MARK-a").done();
    let second = bench.next("two MARK-b").done();
    bench.next("three MARK-c").done();
    let again = bench.rejoin(&["retry", "@", "--at", &second.turn(), "-o", "stream-json"]).done();
    again.fresh("history_changed", 1).knows(&["a", "b"]);
    let shown = bench.show();
    assert_eq!(shown["turns"].as_array().unwrap().len(), 2);
    assert_eq!(shown["turns"][1]["messages"][0]["parts"][0]["text"], "two MARK-b");
    let first = bench.rejoin(&["retry", "@", "--at", "1", "-o", "stream-json"]).done();
    first.fresh("first_turn", 0).knows(&["a"]);
}

#[test]
fn a_retry_can_be_looked_at_first_and_needs_a_turn() {
    let bench = Bench::after_a_turn();
    let said = bench.rejoin(&["retry", "@", "--dry-run", "-o", "json"]).done();
    assert_eq!(said.json()["plan"]["reason"], "first_turn");
    assert_eq!(said.json()["prompt"], "hello MARK-a");
    bench.rejoin(&["rewind", "@"]).done();
    bench.rejoin(&["retry", "@"]).ends(4).tells(&["before the first turn"]);
    bench.rejoin(&["retry", "nonsense"]).ends(4);
}

#[test]
fn files_that_were_sent_along_must_be_given_again() {
    let bench = Bench::new();
    let file = bench.file("notes.txt", "remember the milk");
    bench.first("read it MARK-a").with(&["--attach", file.to_str().unwrap()]).done();
    bench.rejoin(&["retry", "@"]).ends(2).tells(&["notes.txt", "--attach"]);
    bench.rejoin(&["retry", "@", "--attach", file.to_str().unwrap()]).done();
}

/// A prompt whose intent never came to the disk.
fn cut_before_the_intent(bench: &Bench) {
    let journal = bench.journals().remove(0);
    let text = std::fs::read_to_string(&journal).unwrap();
    let intent = text.rfind("\"subtype\":\"intent\"").unwrap();
    let end = text[..intent].rfind('\n').unwrap() + 1;
    std::fs::write(&journal, &text[..end]).unwrap();
}

#[test]
fn a_turn_without_an_intent_is_run_by_whom_the_conversation_names() {
    let bench = Bench::after_a_turn();
    bench.next("two MARK-b").done();
    cut_before_the_intent(&bench);
    bench.config("agent = \"demo2\"\n");
    let again = bench.rejoin(&["retry", "@", "-o", "stream-json"]).done();
    assert_eq!(again.text("agent"), "demo");
    // Where it names nobody, nobody is guessed.
    let bench = Bench::after_a_turn();
    cut_before_the_intent(&bench);
    bench.rejoin(&["retry", "@"]).ends(2).tells(&["which agent", "-a"]);
    bench.rejoin(&["retry", "@", "-a", "demo2"]).done();
}

#[test]
fn what_to_do_again_is_decided_when_it_is_our_turn() {
    let bench = Bench::after_a_turn();
    let mut running = bench.next("two MARK-b SLOW 40").start();
    running.hears("text_delta");
    // A turn that runs looks as if it were cut.
    let again = bench.rejoin(&["retry", "@", "--wait", "-o", "stream-json"]).done();
    running.ends(0);
    again.fresh("history_changed", 1).knows(&["a", "b"]);
    assert_eq!(bench.show()["turns"].as_array().unwrap().len(), 2, "a sibling, because it was completed");
}
