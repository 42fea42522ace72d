//! Questions in the middle of a turn.

use crate::support::Bench;

#[test]
fn with_nobody_there_a_question_is_declined_and_the_turn_goes_on() {
    let bench = Bench::new();
    let said = bench.first("ASK MARK-a").done();
    let questions = said.events_of("question");
    assert_eq!((questions.len(), &questions[0]["text"]), (1, &"Tea or coffee?".into()));
    assert!(said.text("text").contains("Nobody answered my question."), "{}", said.text("text"));
    said.knows(&["a"]);
    let answered = said.events_of("question_answered");
    assert_eq!((&answered[0]["question"], &answered[0]["by"]), (&questions[0]["id"], &"nobody".into()));
    assert_eq!(bench.notes("question")[0]["choices"][1]["id"], "2");
    assert_eq!(bench.notes("question_answered").len(), 1);
    bench.rejoin(&["run", "-a", "demo", "ASK"]).done();
}

#[test]
fn what_was_asked_and_answered_is_not_to_be_asked_again() {
    let bench = Bench::new();
    let first = bench.first("ASK MARK-a").done();
    let said = bench.next("next MARK-b").done();
    said.sent_with(&["was already answered or declined there: do not ask it again", "next MARK-b"]);
    said.knows(&["a", "b"]);
    assert_eq!(said.session(), first.session());
    // Once.
    assert_eq!(bench.next("last MARK-c").done().result()["bytes"], "last MARK-c".len());
}
