//! Tokens and cost are those of the turn, not of the session.

use rejoin_testkit::Request;
use rustix::process::Signal;
use serde_json::Value;

use super::run::Run;
use super::stage::Stage;
use super::turn::Turn;
use super::who::Who;

on_all!(per_turn: ["usage"]);
on_both!(per_turn_after_the_bare_command, with_a_tool_call, after_a_killed_turn);

/// Those that count the whole session.
mod after_a_cancelled_turn {
    played_by!(codex, Codex, after_a_cancelled_turn);
    played_by!(qwen, Qwen, after_a_cancelled_turn);
}

/// What the scripted model counts for an answer.
fn tokens(text: &str) -> u64 {
    text.len() as u64 / 4
}

fn usage(turn: &Turn) -> (u64, u64, u64) {
    let usage = &turn.receipt()["usage"];
    let count = |name: &str| usage[name].as_u64().unwrap_or_else(|| panic!("no {name}: {turn}"));
    (count("input"), count("cached"), count("output"))
}

/// Runs a turn; what the receipt says is what the model counted meanwhile, to the token.
#[track_caller]
fn counted(stage: &Stage, run: Run<'_>) -> Turn {
    let before = stage.lab.model().requests().len();
    let turn = run.go().done();
    let asked = stage.lab.model().requests().split_off(before);
    let counts = |request: &&Request| request.is_call() || stage.who.counts_its_errands();
    let spent = asked.iter().filter(counts).map(|request| request.tokens);
    let spent = spent.fold((0, 0, 0), |(input, cached, output), tokens| {
        let fresh = (tokens.input - tokens.cached) as u64;
        (input + fresh, cached + tokens.cached as u64, output + tokens.output as u64)
    });
    assert_eq!(usage(&turn), spent, "{turn}\n{asked:#?}");
    turn
}

fn per_turn(stage: &Stage) {
    let prompt = |mark: &str| format!("{} MARK-{mark}", "words ".repeat(200));
    let first = counted(stage, stage.first(&prompt("one")));
    assert!(usage(&first).0 >= 300, "{first}");
    for mark in ["two", "three"] {
        let turn = counted(stage, stage.next(&prompt(mark)));
        assert!(usage(&turn).1 >= 300, "what was said before is cached: {turn}");
        check_cost(stage, &turn);
    }
    check_cost(stage, &first);
    let total: u64 = stage.show()["turns"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|turn| turn["receipt"]["usage"]["output"].as_u64())
        .sum();
    assert_eq!(stage.ask(["ls", "--json"])[0]["usage"]["output"], total);
}

/// Claude tells what it costs, Codex does not.
fn check_cost(stage: &Stage, turn: &Turn) {
    let cost = &turn.receipt()["cost"];
    match stage.who {
        Who::Claude => assert!(cost.as_f64().is_some_and(|cost| cost > 0.0 && cost < 1.0), "{turn}"),
        _ => assert_eq!(*cost, Value::Null),
    }
}

/// What the bare command used is nobody's turn.
fn per_turn_after_the_bare_command(stage: &Stage) {
    let first = stage.first("first MARK-one").go().done();
    stage.bare(&first.session(), "without rejoin MARK-bare");
    let second = stage.next("second MARK-two").go().done();
    assert_eq!(usage(&second).2, tokens(second.answer()), "{second}");
}

/// A turn with two requests counts both.
fn with_a_tool_call(stage: &Stage) {
    stage.first("first MARK-one").with(["--permissions", "full"]).go().done();
    let second = stage.next("second MARK-two TOOL-ECHO hello").go().done();
    assert_eq!(second.calls.len(), 2);
    let (.., output) = usage(&second);
    assert!(output > tokens(second.answer()) && output < tokens(second.answer()) + 60, "{second}");
}

/// What a killed turn used is not counted for the next one.
fn after_a_killed_turn(stage: &Stage) {
    stage.first("first MARK-one").with(["--permissions", "full"]).go().done();
    stage.next("second MARK-two TOOL-SLEEP 519").start().until_this_runs("sleep 519").kill();
    let third = stage.next("third MARK-three").go().done();
    assert_eq!(usage(&third).2, tokens(third.answer()), "{third}");
}

/// Nor is what a cancelled one used.
fn after_a_cancelled_turn(stage: &Stage) {
    stage.first("first MARK-one").with(["--permissions", "full"]).go().done();
    let running = stage.next("second MARK-two TOOL-SLEEP 519").start().until_this_runs("sleep 519");
    running.signal(Signal::INT);
    running.finish().ended(130, "cancelled");
    counted(stage, stage.next("third MARK-three"));
    counted(stage, stage.next("fourth MARK-four"));
}
