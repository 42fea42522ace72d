//! Follow-up turns go on in the agent's own session.

use super::stage::Stage;

on_all!(three_turns: ["fresh", "resume", "third turn"]);
on_both!(by_name_and_by_id, a_branch_is_not_resumed);

fn three_turns(stage: &Stage) {
    let first = stage.first("first MARK-one").go().done().fresh("first_turn", 0).remembered(1, ["one"]);
    let first = first.verbatim("first MARK-one");
    let (session, conversation) = (first.session(), first.conversation());
    stage.seen("fresh");
    let second = stage.next("second MARK-two").go().done();
    second.resumed(&session, 0).remembered(2, ["one", "two"]).verbatim("second MARK-two");
    let shown = stage.show();
    let pins = shown["pins"].as_array().expect("pins");
    assert_eq!(pins.len(), 1, "{shown}");
    assert_eq!((pins[0]["session"].as_str(), &pins[0]["state"]), (Some(session.as_str()), &"live".into()));
    assert_eq!(stage.stored_sessions(stage.who).len(), 1, "one session for both turns");
    stage.seen("resume");
    let third = stage.next("third MARK-three").go().done().resumed(&session, 0);
    let third = third.remembered(3, ["one", "two", "three"]).verbatim("third MARK-three");
    assert_eq!(third.conversation(), conversation);
    assert!(third.warnings("advanced").is_empty(), "nobody else was at it: {third}");
    assert_eq!(stage.show()["turns"].as_array().map(Vec::len), Some(3));
    assert_eq!(stage.lab.model().calls().len(), 3);
}

/// A name, the beginning of our id, the agent's own id: all mean the same conversation.
fn by_name_and_by_id(stage: &Stage) {
    let first = stage.first("first MARK-one").with(["-s", "release"]).go().done();
    let (session, conversation) = (first.session(), first.conversation());
    stage.first("another conversation MARK-other").go().done();
    let second = stage.run("second MARK-two").with(["-s", "release"]).go().done();
    second.resumed(&session, 0).remembered(2, ["one", "two"]);
    let third = stage.run("third MARK-three").with(["-r", &conversation[..8]]).go().done();
    third.resumed(&session, 0).remembered(3, ["one", "two", "three"]);
    let fourth = stage.run("fourth MARK-four").with(["-r", &session]).go().done();
    fourth.resumed(&session, 0).remembered(4, ["one", "two", "three", "four"]);
}

/// What the user took back must not stay in a resumed memory.
fn a_branch_is_not_resumed(stage: &Stage) {
    let first = stage.first("first MARK-one").go().done();
    let turn = first.receipt()["turn"].as_str().expect("an id").to_owned();
    stage.next("second MARK-two").go().done().resumed(&first.session(), 0);
    let branch = stage.next("another idea MARK-three").with(["--checkpoint", &turn]).go().done();
    let branch = branch.fresh("history_changed", 1).remembered(1, ["one", "three"]);
    assert_ne!(branch.session(), first.session());
    let on = stage.next("on the branch MARK-four").go().done().resumed(&branch.session(), 0);
    on.remembered(2, ["one", "three", "four"]);
}
