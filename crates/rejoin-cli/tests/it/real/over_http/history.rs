//! What was said is changed, or taken back: inside of what the session knows, and outside of it.

use serde_json::{Value, json};

use super::served::{Served, begun, resumed};
use crate::real::stage::Stage;
use crate::real::turn::Turn;

on_claude!(
    an_edit_inside_of_what_it_knows,
    an_edit_outside_of_what_it_knows,
    a_turn_that_it_knows_is_taken_back,
    a_turn_of_another_agent_is_taken_back,
    the_last_turn_is_had_again
);

/// One turn of Claude and one of `demo`, each of whom knows its own only.
fn each_its_own(served: &Served<'_>) -> (Turn, Turn) {
    let mut body = served.wanted("first MARK-one");
    body["scope"] = json!("own");
    let first = served.turn(&body).done().remembered(1, ["one"]);
    let second = served.next_with(&first, "second MARK-two", "agent", "demo").done();
    assert_eq!(second.receipt()["plan"]["replayed"], 0, "{second}");
    (first, second)
}

fn by_claude(served: &Served<'_>, before: &Turn, prompt: &str) -> Turn {
    served.next_with(before, prompt, "agent", "claude").done()
}

fn reworded(turn: &str, text: &str) -> Value {
    json!({ "message": turn, "text": text })
}

fn an_edit_inside_of_what_it_knows(stage: &Stage) {
    let served = Served::start(stage);
    let (first, _) = each_its_own(&served);
    served.change(&first, "edit", &reworded("1", "first, better MARK-better"));
    let third = by_claude(&served, &first, "third MARK-three");
    // Claude's own answer names the mark that it was sent then.
    let third = third.fresh("history_changed", 1).remembered(1, ["better", "one", "three"]);
    let sent = third.prompt_sent();
    assert!(sent.contains("first, better MARK-better") && !sent.contains("first MARK-one"), "{sent}");
    assert_eq!(served.told_of_sessions(), [begun(&first.session()), begun(&third.session())]);
}

fn an_edit_outside_of_what_it_knows(stage: &Stage) {
    let served = Served::start(stage);
    let (first, _) = each_its_own(&served);
    served.change(&first, "edit", &reworded("2", "second, better MARK-better"));
    let third = by_claude(&served, &first, "third MARK-three").resumed(&first.session(), 0);
    third.remembered(2, ["one", "three"]).verbatim("third MARK-three");
    assert_eq!(served.told_of_sessions(), [begun(&first.session()), resumed(&first.session())]);
}

fn a_turn_that_it_knows_is_taken_back(stage: &Stage) {
    let served = Served::start(stage);
    let first = served.first("first MARK-one").done();
    let old = first.session();
    served.next(&first, "second MARK-two").done().resumed(&old, 0);
    served.change(&first, "rewind", &json!({ "turns": 1 }));
    let third = served.next(&first, "third MARK-three").done();
    let third = third.fresh("history_changed", 1).remembered(1, ["one", "three"]);
    let new = third.session();
    assert_eq!(served.told_of_sessions(), [begun(&old), resumed(&old), begun(&new)]);
}

/// The session ends where the conversation now does, and never heard of what was taken back.
fn a_turn_of_another_agent_is_taken_back(stage: &Stage) {
    let served = Served::start(stage);
    let first = served.first("first MARK-one").done();
    served.next_with(&first, "second MARK-two", "agent", "demo").done();
    served.change(&first, "rewind", &json!({ "turns": 1 }));
    let third = by_claude(&served, &first, "third MARK-three").resumed(&first.session(), 0);
    third.remembered(2, ["one", "three"]).verbatim("third MARK-three");
    assert_eq!(served.told_of_sessions(), [begun(&first.session()), resumed(&first.session())]);
}

fn the_last_turn_is_had_again(stage: &Stage) {
    let served = Served::start(stage);
    let first = served.first("first MARK-one").done();
    let old = first.session();
    let second = served.next(&first, "second MARK-two").done().resumed(&old, 0);
    let path = format!("/api/v1/runs/{}/retry", second.receipt()["turn"].as_str().unwrap());
    let again = served.turn_at(&path, &json!({})).done();
    let again = again.fresh("history_changed", 1).remembered(1, ["one", "two"]);
    let new = again.session();
    assert_eq!(served.told_of_sessions(), [begun(&old), resumed(&old), begun(&new)]);
}
