//! The user goes on in the agent's own command, without rejoin.

use super::stage::{Stage, Who};

on_both!(used_in_between, used_after_a_failed_turn);

fn used_in_between(stage: &Stage) {
    let session = stage.first("first MARK-one").go().done().session();
    stage.bare(&session, "without rejoin MARK-bare");
    let second = stage.next("second MARK-two").go().done().resumed(&session, 0);
    let second = second.remembered(3, ["one", "bare", "two"]).verbatim("second MARK-two");
    assert_eq!(second.warnings("advanced").len(), 1, "{second}");
    let gaps = stage.system_records("gap");
    assert_eq!((gaps.len(), gaps[0]["session"].as_str()), (1, Some(session.as_str())), "{gaps:?}");
    // Told once.
    let third = stage.next("third MARK-three").go().done().resumed(&session, 0);
    let third = third.remembered(4, ["one", "bare", "two", "three"]);
    assert!(third.warnings("advanced").is_empty(), "{third}");
    assert_eq!(stage.system_records("gap").len(), 1);
}

fn used_after_a_failed_turn(stage: &Stage) {
    let session = stage.first("first MARK-one").go().done().session();
    stage.next("second MARK-two RATE429").go().failed("rate_limit");
    stage.bare(&session, "without rejoin MARK-bare");
    let third = stage.next("third MARK-three").go().done().resumed(&session, 1);
    // Claude hands a failed prompt on in one message with the next one.
    let messages = if stage.who == Who::Claude { 3 } else { 4 };
    let third = third.remembered(messages, ["one", "two", "bare", "three"]);
    assert_eq!(third.warnings("advanced").len(), 1, "{third}");
}
