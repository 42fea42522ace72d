//! The user goes on in the agent's own command, without rejoin.

use std::io::Write;
use std::process::Stdio;

use serde_json::Value;

use super::processes::PATIENCE;
use super::stage::Stage;

on_all!(used_in_between: ["bare CLI between"]);
on_both!(used_after_a_failed_turn);
on_codex!(used_at_the_same_time);

fn used_in_between(stage: &Stage) {
    let session = stage.first("first MARK-one").go().done().session();
    stage.bare(&session, "without rejoin MARK-bare");
    let second = stage.next("second MARK-two").go().done().resumed(&session, 0);
    let second = second.remembered(3, ["one", "bare", "two"]).verbatim("second MARK-two");
    assert_eq!(second.warnings("adopted").len(), 1, "{second}");
    assert!(second.warnings("advanced").is_empty(), "{second}");
    let journal = stage.records();
    let said = |record: &&Value| record["type"] == "user" && record.to_string().contains("MARK-bare");
    assert_eq!(journal.iter().filter(said).count(), 1, "what was said there is in the journal");
    // Told once.
    let third = stage.next("third MARK-three").go().done().resumed(&session, 0);
    let third = third.remembered(4, ["one", "bare", "two", "three"]);
    assert!(third.warnings("adopted").is_empty(), "{third}");
    assert!(stage.system_records("gap").is_empty());
}

fn used_after_a_failed_turn(stage: &Stage) {
    let session = stage.first("first MARK-one").go().done().session();
    stage.next("second MARK-two RATE429").go().failed("rate_limit");
    stage.bare(&session, "without rejoin MARK-bare");
    // That it failed stands in the session as well.
    let third = stage.next("third MARK-three").go().done().resumed(&session, 0);
    let messages = if stage.who.keeps_failed_prompts_apart() { 4 } else { 3 };
    let third = third.remembered(messages, ["one", "two", "bare", "three"]);
    assert_eq!(third.warnings("adopted").len(), 1, "{third}");
}

/// Codex has a lock of its own; Claude has none, and nobody could tell.
fn used_at_the_same_time(stage: &Stage) {
    let session = stage.first("first MARK-one").go().done().session();
    let mut bare = stage.bare_command(&session);
    bare.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut bare = bare.spawn().unwrap();
    bare.stdin.take().unwrap().write_all(b"without rejoin MARK-bare HANG").unwrap();
    assert!(stage.lab.model().wait_for_calls(2, PATIENCE));
    let busy = stage.next("second MARK-two").go().ended(6, "failed");
    assert_eq!(busy.receipt()["class"], "busy", "{busy}");
    stage.kill_every("/node_modules/");
    bare.wait().unwrap();
    // The one there was cut, the one here never reached it.
    let third = stage.next("third MARK-three").go().done().resumed(&session, 2);
    third.remembered(3, ["one", "bare", "two", "three"]);
}
