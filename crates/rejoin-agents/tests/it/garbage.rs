//! Bytes of every kind: never a panic, never more than one end.

use proptest::prelude::*;
use rejoin_agents::{Answer, Exit, Line};
use rejoin_core::Agent;

use crate::recording::{Recording, ends, names};
use crate::requests::{Asked, CLAUDE_SESSION, CODEX_SESSION, OPENCODE_SESSION, gemini, opencode};

fn asked(agent: usize) -> Asked {
    let agents = [Agent::Claude, Agent::Codex, Agent::Demo, gemini(), Agent::Qwen, opencode()];
    let agent = agents[agent].clone();
    let session = match agent.as_str() {
        "codex" => CODEX_SESSION,
        "opencode" => OPENCODE_SESSION,
        _ => CLAUDE_SESSION,
    };
    Asked { can_ask: true, ..Asked::of(agent).resuming(session) }
}

fn feed(agent: usize, lines: &[(Vec<u8>, bool)]) {
    let mut driver = asked(agent).driver();
    let mut steps = Vec::new();
    driver.start(&mut steps);
    for (bytes, truncated) in lines {
        driver.on_line(Line { bytes, truncated: *truncated }, &mut steps);
        driver.on_stderr(Line { bytes, truncated: *truncated }, &mut steps);
        driver.answer("r", Answer::option("x"), &mut steps);
    }
    driver.on_exit(&Exit { code: Some(1), signal: None, stderr: "x" }, &mut steps);
    assert_eq!(ends(&steps), 1);
}

/// A recorded line with some bytes changed.
fn mangled() -> impl Strategy<Value = Vec<u8>> {
    let lines: Vec<String> = ["claude", "codex", "gemini", "opencode", "qwen"]
        .into_iter()
        .flat_map(|agent| names(agent).into_iter().map(move |name| Recording::load(agent, &name)))
        .flat_map(|recording| recording.stdout)
        .collect();
    let change = (any::<prop::sample::Index>(), any::<u8>());
    (prop::sample::select(lines), prop::collection::vec(change, 0..4), any::<prop::sample::Index>()).prop_map(
        |(line, changes, end)| {
            let mut bytes = line.into_bytes();
            for (at, byte) in changes {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            bytes.truncate(end.index(bytes.len() + 1).max(1));
            bytes
        },
    )
}

/// JSON made of the words the agents use, in any shape.
fn shapes() -> impl Strategy<Value = Vec<u8>> {
    let word = prop::sample::select(vec![
        "type",
        "system",
        "init",
        "assistant",
        "user",
        "result",
        "message",
        "content",
        "text",
        "tool_use",
        "tool_result",
        "stream_event",
        "event",
        "delta",
        "control_request",
        "can_use_tool",
        "request",
        "input",
        "questions",
        "is_error",
        "num_turns",
        "usage",
        "modelUsage",
        "session_id",
        "item",
        "item.completed",
        "item.started",
        "turn.failed",
        "turn.completed",
        "error",
        "thread.started",
        "thread_id",
        "end",
        "tool",
        "compact_boundary",
        "api_retry",
        "AskUserQuestion",
        "tool_name",
        "subtype",
        "id",
        "output",
        "role",
        "tool_id",
        "status",
        "stats",
        "severity",
        "parameters",
        "step_start",
        "step_finish",
        "sessionID",
        "part",
        "state",
        "reason",
        "stop",
        "synthetic",
        "metadata",
        "compaction_continue",
    ]);
    let leaf = prop_oneof![
        word.clone().prop_map(|word| format!("{word:?}")),
        any::<i64>().prop_map(|number| number.to_string()),
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("1e400".to_owned()),
        Just(r#""\ud83d""#.to_owned()),
    ];
    let value = leaf.prop_recursive(5, 48, 6, move |inner| {
        let entry = (word.clone(), inner.clone()).prop_map(|(key, value)| format!("{key:?}:{value}"));
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(|items| format!("[{}]", items.join(","))),
            prop::collection::vec(entry, 0..6).prop_map(|entries| format!("{{{}}}", entries.join(","))),
        ]
    });
    value.prop_map(String::into_bytes)
}

fn noise() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..200)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_make_a_driver_panic(
        agent in 0..6_usize,
        lines in prop::collection::vec((prop_oneof![mangled(), shapes(), noise()], any::<bool>()), 0..12),
    ) {
        feed(agent, &lines);
    }
}
