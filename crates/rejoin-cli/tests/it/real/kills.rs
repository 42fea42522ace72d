//! Turns that are stopped from outside: nothing said is lost, nothing is left running.

use rustix::process::Signal;
use serde_json::Value;

use super::stage::Stage;
use super::turn::Turn;

on_all!(
    killed_on_the_first_turn: ["kill, first turn"],
    killed_in_mid_turn: ["kill, later turn"],
    interrupted_while_a_tool_runs: ["cancel in a tool"],
    the_agent_itself_is_killed: [],
);
on_both!(
    killed_at_the_first_line,
    killed_while_a_tool_runs,
    interrupted,
    terminated,
    timed_out,
    timed_out_in_silence,
    silence_does_not_count_while_a_tool_runs
);

/// The next turn knows everything, whether the session held it or was told.
#[track_caller]
fn next_turn_knows<const N: usize>(stage: &Stage, marks: [&str; N]) -> Turn {
    let mark = marks.last().unwrap();
    let next = stage.next(&format!("go on MARK-{mark}")).go().done();
    let marks = marks.map(|mark| format!("MARK-{mark}"));
    assert_eq!(next.calls.last().unwrap().marks, marks, "{next}");
    assert!(next.answer().ends_with(&marks.join(",")), "{next}");
    assert!(next.warnings("advanced").is_empty(), "nobody else was at it: {next}");
    next
}

#[track_caller]
fn state_of_the_last_turn(stage: &Stage) -> Value {
    let shown = stage.show();
    shown["turns"].as_array().unwrap().last().unwrap()["state"].clone()
}

fn begins_to_answer(event: &Value) -> bool {
    event["type"] == "text_delta"
}

fn killed_in_mid_turn(stage: &Stage) {
    let session = stage.first("first MARK-one").go().done().session();
    let running = stage.next("second MARK-two SLOW").start().until_the_model_is_asked();
    if stage.who.streams() {
        // What came of the answer so far is kept.
        running.until(begins_to_answer).until_the_journal_has("w1 ").kill();
    } else {
        running.kill();
    }
    assert_eq!(state_of_the_last_turn(stage), "cut");
    assert!(stage.show()["turns"][1].to_string().contains("second MARK-two SLOW"));
    assert_eq!(stage.ask(["ls", "--json"])[0]["state"], "interrupted");
    let next = next_turn_knows(stage, ["one", "two", "three"]).resumed(&session, 1);
    assert!(next.prompt_sent().contains("cut off"), "{next}");
    stage.next("fourth MARK-four").go().done().resumed(&session, 0).verbatim("fourth MARK-four");
}

fn killed_on_the_first_turn(stage: &Stage) {
    stage.first("first MARK-one SLOW").start().until_the_model_is_asked().kill();
    assert_eq!(state_of_the_last_turn(stage), "cut");
    next_turn_knows(stage, ["one", "two"]);
}

/// The session is named, but perhaps not stored yet.
fn killed_at_the_first_line(stage: &Stage) {
    let named = |event: &Value| event["type"] == "session";
    stage.first("first MARK-one SLOW").start().until(named).kill();
    next_turn_knows(stage, ["one", "two"]);
    stage.next("third MARK-three SLOW").start().until(named).kill();
    next_turn_knows(stage, ["one", "two", "three", "four"]);
}

fn killed_while_a_tool_runs(stage: &Stage) {
    stage.first("first MARK-one").with(["--permissions", "full"]).go().done();
    let running = stage.next("second MARK-two TOOL-SLEEP 517").start().until_this_runs("sleep 517");
    running.until_the_journal_has("sleep 517").kill();
    assert_eq!(state_of_the_last_turn(stage), "cut");
    let next = next_turn_knows(stage, ["one", "two", "three"]);
    assert!(next.prompt_sent().contains("commands may have run"), "{next}");
    assert!(next.prompt_sent().contains("sleep 517"), "the call itself is told: {next}");
}

fn interrupted(stage: &Stage) {
    let session = stage.first("first MARK-one").go().done().session();
    let running = stage.next("second MARK-two SLOW").start().until_the_model_is_asked();
    let running = if stage.who.streams() { running.until(begins_to_answer) } else { running };
    running.signal(Signal::INT);
    running.finish().ended(130, "cancelled").resumed(&session, 0);
    stage.nothing_is_left_running();
    next_turn_knows(stage, ["one", "two", "three"]).resumed(&session, 1);
}

fn interrupted_while_a_tool_runs(stage: &Stage) {
    let session = stage.first("first MARK-one").with(["--permissions", "full"]).go().done().session();
    let running = stage.next("second MARK-two TOOL-SLEEP 518").start().until_this_runs("sleep 518");
    running.signal(Signal::INT);
    running.finish().ended(130, "cancelled");
    stage.nothing_is_left_running();
    next_turn_knows(stage, ["one", "two", "three"]).resumed(&session, 1);
}

fn terminated(stage: &Stage) {
    stage.first("first MARK-one").go().done();
    let running = stage.next("second MARK-two HANG").start().until_the_model_is_asked();
    running.signal(Signal::TERM);
    running.finish().ended(130, "cancelled");
    stage.nothing_is_left_running();
    next_turn_knows(stage, ["one", "two", "three"]);
}

fn timed_out(stage: &Stage) {
    stage.first("first MARK-one").go().done();
    stage.next("second MARK-two HANG").with(["--timeout", "3s"]).go().ended(3, "timeout");
    stage.nothing_is_left_running();
    next_turn_knows(stage, ["one", "two", "three"]);
}

fn timed_out_in_silence(stage: &Stage) {
    stage.first("first MARK-one").go().done();
    let turn = stage.next("second MARK-two HANG").with(["--idle-timeout", "3s"]).go().ended(3, "timeout");
    assert!(turn.receipt()["error"].as_str().unwrap().contains("nothing came"), "{turn}");
    stage.nothing_is_left_running();
    next_turn_knows(stage, ["one", "two", "three"]);
}

fn silence_does_not_count_while_a_tool_runs(stage: &Stage) {
    let run = stage.first("first MARK-one TOOL-SLEEP 8").with(["--permissions", "full"]);
    let turn = run.with(["--idle-timeout", "6s"]).go().done().remembered(1, ["one"]);
    assert!(turn.answer().contains("slept"), "{turn}");
}

/// Not by rejoin: the system ran out of memory, say.
fn the_agent_itself_is_killed(stage: &Stage) {
    let session = stage.first("first MARK-one").go().done().session();
    let running = stage.next("second MARK-two HANG").start().until_the_model_is_asked();
    stage.kill_every(stage.who.process());
    let killed = running.finish().failed("no_result");
    assert_eq!(killed.receipt()["asked"], session, "{killed}");
    if stage.who.names_its_session_at_once() {
        killed.resumed(&session, 0);
    }
    stage.nothing_is_left_running();
    let next = next_turn_knows(stage, ["one", "two", "three"]).resumed(&session, 1);
    assert!(next.prompt_sent().contains("cut off"), "{next}");
}
