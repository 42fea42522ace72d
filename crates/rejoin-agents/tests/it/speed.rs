//! How fast lines are read: `cargo test --release -p rejoin-agents -- --ignored --nocapture fast`.

use std::hint::black_box;
use std::time::Instant;

use rejoin_agents::Line;
use serde_json::json;

use crate::requests::Asked;

/// Reads the line again and again for a while; megabytes per second.
fn speed(asked: &Asked, line: &str) -> f64 {
    let mut driver = asked.driver();
    let mut steps = Vec::new();
    let (begun, mut bytes) = (Instant::now(), 0);
    while begun.elapsed().as_millis() < 300 {
        for _ in 0..8 {
            driver.on_line(Line::whole(line.as_bytes()), &mut steps);
            bytes += line.len();
            assert!(!steps.is_empty());
            black_box(&steps);
            steps.clear();
        }
    }
    bytes as f64 / begun.elapsed().as_secs_f64() / 1e6
}

fn tool_result(output: &str) -> String {
    json!({
        "type": "user",
        "message": { "role": "user", "content": [{ "tool_use_id": "t", "type": "tool_result", "content": output }] },
        "parent_tool_use_id": null,
        "tool_use_result": { "stdout": output, "stderr": "" },
    })
    .to_string()
}

#[test]
#[ignore = "a measurement, for release builds"]
fn long_lines_are_fast() {
    let plain = "all work and no play ".repeat(50_000);
    let source = "    let x = \"one\\ttwo\";\n\tif x { return; }\n".repeat(25_000);
    let claude_message = |text: &str| {
        json!({ "type": "assistant", "message": { "id": "m", "content": [{ "type": "text", "text": text }] } }).to_string()
    };
    let claude_delta = |text: &str| {
        json!({
            "type": "stream_event",
            "event": { "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": text } },
            "session_id": "766fde6e-0724-4c4c-bed4-a8c19bfcc35e",
            "parent_tool_use_id": null,
            "uuid": "b305a528-691a-480c-ade0-f8f5d1c7992c",
        })
        .to_string()
    };
    let codex_command = |output: &str| {
        json!({
            "type": "item.completed",
            "item": { "id": "i", "type": "command_execution", "command": "x", "aggregated_output": output, "exit_code": 0 },
        })
        .to_string()
    };
    let (claude, codex) = (Asked::claude(), Asked::codex());
    for (name, asked, line) in [
        ("claude, plain answer", &claude, claude_message(&plain)),
        ("claude, source in an answer", &claude, claude_message(&source)),
        ("claude, plain output", &claude, tool_result(&plain)),
        ("claude, source as output", &claude, tool_result(&source)),
        ("codex, plain output", &codex, codex_command(&plain)),
        ("codex, source as output", &codex, codex_command(&source)),
    ] {
        println!("{name:32} {:8.0} MB/s ({} KiB)", speed(asked, &line), line.len() / 1024);
    }
    let line = claude_delta("word ");
    let start = r#"{"type":"stream_event","event":{"type":"message_start","message":{"id":"m"}}}"#;
    let mut driver = claude.driver();
    let mut steps = Vec::new();
    driver.on_line(Line::whole(start.as_bytes()), &mut steps);
    let begun = Instant::now();
    for _ in 0..200_000 {
        steps.clear();
        driver.on_line(Line::whole(line.as_bytes()), &mut steps);
        black_box(&steps);
    }
    println!("claude, a small delta: {:.2} µs", begun.elapsed().as_secs_f64() * 1e6 / 200_000.0);
}
