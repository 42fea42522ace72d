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
    bench.rejoin(&["run", "-a", "demo", "ASK"]).done();
}
