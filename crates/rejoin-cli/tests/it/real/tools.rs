//! What an agent does with its tools is seen, recorded, and told to the next agent.

use serde_json::Value;

use super::stage::Stage;

on_all!(a_tool_call: ["tool call"], a_failing_tool: []);
on_both!(a_tool_call_is_told_in_a_replay, a_background_process, a_lot_of_output);

fn a_tool_call(stage: &Stage) {
    let turn = stage.first("MARK-one TOOL-ECHO hello").with(["--permissions", "full"]).go().done();
    let turn = turn.remembered(1, ["one"]);
    assert!(turn.answer().contains("hello"), "{turn}");
    assert_eq!(turn.calls.len(), 2, "{turn}");
    let (used, results) = (turn.events_of("tool_use"), turn.events_of("tool_result"));
    assert_eq!((used.len(), results.len()), (1, 1), "{turn}");
    assert!(used[0]["input"]["command"].as_str().unwrap().contains("echo hello"), "{turn}");
    assert_eq!(used[0]["id"], results[0]["id"]);
    assert!(results[0]["output"].as_str().unwrap().contains("hello"), "{turn}");
    assert_eq!(results[0]["error"], Value::Null);

    // The same in the journal, in order: what was asked, the call, its result, the answer.
    let messages = stage.show()["turns"][0]["messages"].clone();
    let kinds: Vec<&str> = messages.as_array().unwrap().iter().filter_map(|m| m["type"].as_str()).collect();
    assert_eq!(kinds, ["user", "assistant", "tool_result", "assistant"], "{messages}");
    let text = messages.to_string();
    assert!(text.contains("functionCall") && text.contains("functionResponse"), "{text}");
    assert!(messages[2].to_string().contains("hello"), "{messages}");
    let second = stage.next("second MARK-two").go().done().resumed(&turn.session(), 0);
    second.remembered(2, ["one", "two"]);
}

fn a_failing_tool(stage: &Stage) {
    let prompt = "MARK-one TOOL-RUN [echo oops; exit 3]";
    let turn = stage.first(prompt).with(["--permissions", "full"]).go().done();
    let results = turn.events_of("tool_result");
    let error = if stage.who.tells_of_failed_commands() { true.into() } else { Value::Null };
    assert_eq!((results.len(), &results[0]["error"]), (1, &error), "{turn}");
    assert!(results[0]["output"].as_str().unwrap().contains("oops"), "{turn}");
}

fn a_tool_call_is_told_in_a_replay(stage: &Stage) {
    stage.first("MARK-one TOOL-ECHO hello").with(["--permissions", "full"]).go().done();
    let second = stage.next("second MARK-two").with(["--fresh-session"]).go().done();
    let second = second.fresh("forced", 1).remembered(1, ["one", "two"]);
    let told = second.prompt_sent();
    assert!(told.contains("<tool-call-") && told.contains("<tool-result-"), "{told}");
    assert!(told.contains("echo hello"), "{told}");
    assert_eq!(second.calls.len(), 1, "quoted calls are not carried out again: {second}");
}

/// After a clean turn what the agent started goes on, and is named.
fn a_background_process(stage: &Stage) {
    let prompt = "MARK-one TOOL-RUN [setsid sleep 520 < /dev/null > /dev/null 2>&1 & echo begun]";
    let turn = stage.first(prompt).with(["--permissions", "full"]).go().done();
    assert!(turn.answer().contains("begun"), "{turn}");
    assert_eq!(stage.alive("sleep 520").len(), 1, "{turn}");
    let named = turn.warnings("background");
    assert!(named.len() == 1 && named[0].contains("sleep"), "{turn}");
    stage.kill_every("sleep 520");
}

fn a_lot_of_output(stage: &Stage) {
    let first = stage.first("MARK-one TOOL-RUN [seq 1 200000]").with(["--permissions", "full"]).go().done();
    let first = first.remembered(1, ["one"]);
    stage.next("second MARK-two").go().done().resumed(&first.session(), 0);
    let third = stage.next("third MARK-three").by(stage.who.other()).go().done();
    let third = third.fresh("no_session", 2).remembered(1, ["one", "two", "three"]);
    assert!(third.receipt()["bytes"].as_u64().unwrap() < 300 << 10, "{third}");
}
