//! The scripted model, asked over the wire.

mod chat;
mod gemini;
mod wire;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use rejoin_testkit::ScriptedModel;
use serde_json::{Value, json};

use self::wire::{ask, events, post, types, user};

fn claude_says(messages: &Value) -> Value {
    let tools = json!([{"name": "Bash"}, {"name": "Write"}, {"name": "AskUserQuestion"}]);
    json!({"model": "some-model", "messages": messages, "tools": tools})
}

fn codex_says(input: &Value) -> Value {
    json!({"model": "mock-model", "input": input, "stream": true, "tools": [{"name": "exec_command"}]})
}

const MESSAGES: &str = "/v1/messages";
const RESPONSES: &str = "/v1/responses";

#[test]
fn messages_answers_with_what_it_has_seen() {
    let model = ScriptedModel::start();
    let body = claude_says(
        &json!([user("one MARK-one"), {"role": "assistant", "content": "…"}, user("two MARK-two")]),
    );
    let (status, answer) = post(&model, "/v1/messages?beta=true", &body);
    assert_eq!(status, 200);
    assert_eq!(answer["content"][0]["text"], "SEEN n=2 marks=MARK-one,MARK-two");
    assert_eq!(answer["stop_reason"], "end_turn");

    let request = &model.requests()[0];
    assert_eq!((request.seq, request.path.as_str(), request.protocol), (1, MESSAGES, Some("anthropic")));
    assert_eq!(request.marks, ["MARK-one", "MARK-two"]);
    assert_eq!(request.user_messages, ["one MARK-one", "two MARK-two"]);
    assert_eq!(request.headers["user-agent"], "test/1");
    assert_eq!(request.headers["x-api-key"], "<6 bytes>");
    model.clear();
    assert!(model.requests().is_empty());
}

#[test]
fn marks_in_the_system_prompt_do_not_count() {
    let model = ScriptedModel::start();
    let mut body = claude_says(&json!([user("MARK-one")]));
    body["system"] = json!("MARK-system");
    assert_eq!(post(&model, MESSAGES, &body).1["content"][0]["text"], "SEEN n=1 marks=MARK-one");
}

#[test]
fn messages_streams_its_events_in_order() {
    let model = ScriptedModel::start();
    let mut body = claude_says(&json!([user("MARK-one TOOL-ECHO hello")]));
    body["stream"] = json!(true);
    let got = events(&model, MESSAGES, &body);
    let block = ["content_block_start", "content_block_delta", "content_block_stop"];
    let expected = [&["message_start"], &block[..], &block[..], &["message_delta", "message_stop"]].concat();
    assert_eq!(types(&got), expected);
    let input: Value = serde_json::from_str(got[5]["delta"]["partial_json"].as_str().unwrap()).unwrap();
    assert_eq!(input["command"], "echo hello");
    assert_eq!(got[7]["delta"]["stop_reason"], "tool_use");
}

#[test]
fn messages_quotes_the_tools_answer_and_does_not_call_again() {
    let model = ScriptedModel::start();
    let result = json!([
        {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "hel\nlo"}]},
        {"type": "text", "text": "<system-reminder>TOOL-ECHO no</system-reminder>"},
    ]);
    let body = claude_says(&json!([user("MARK-one TOOL-ECHO x"), {"role": "user", "content": result}]));
    let answer = post(&model, MESSAGES, &body).1;
    assert_eq!(answer["content"][0]["text"], "SEEN n=1 marks=MARK-one tool=hel\\nlo");
}

#[test]
fn messages_calls_the_tool_that_fits() {
    let model = ScriptedModel::start();
    let call =
        |text: &str| post(&model, MESSAGES, &claude_says(&json!([user(text)]))).1["content"][0].clone();
    let write = call("TOOL-WRITE /x/y");
    assert_eq!((&write["name"], &write["input"]["file_path"]), (&json!("Write"), &json!("/x/y")));
    assert_eq!(call("TOOL-RUN [a; b]")["input"]["command"], "a; b");
    assert_eq!(call("ASKUSER")["name"], "AskUserQuestion");
    let mut bare = claude_says(&json!([user("TOOL-ECHO x")]));
    bare["tools"] = json!([]);
    let answer = post(&model, MESSAGES, &bare).1;
    assert_eq!(answer["content"][0]["text"], "SEEN n=0 marks= no-such-tool-offered:");
}

#[test]
fn a_title_is_an_errand_and_not_a_call() {
    let model = ScriptedModel::start();
    let mut body = claude_says(&json!([user("MARK-one FAIL500")]));
    body["output_config"] = json!({"format": {"schema": {"properties": {"title": {"type": "string"}}}}});
    assert_eq!(post(&model, MESSAGES, &body).1["content"][0]["text"], r#"{"title":"Scripted title"}"#);
    assert_eq!((model.requests().len(), model.calls().len()), (1, 0));
}

#[test]
fn responses_answers_with_what_it_has_seen_and_ends_the_response() {
    let model = ScriptedModel::start();
    let message = |text: &str| json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]});
    let got = events(&model, RESPONSES, &codex_says(&json!([message("MARK-one"), message("MARK-two")])));
    assert_eq!(
        types(&got),
        [
            "response.created",
            "response.output_item.added",
            "response.output_text.delta",
            "response.output_item.done",
            "response.completed",
        ]
    );
    assert_eq!(got[2]["delta"], "SEEN n=2 marks=MARK-one,MARK-two");
    assert_eq!(got[4]["sequence_number"], 4);
    assert!(got[4]["response"]["usage"]["input_tokens"].as_u64().unwrap() > 10);
}

#[test]
fn responses_calls_the_shell_and_then_quotes_it() {
    let model = ScriptedModel::start();
    let prompt = json!({"type": "message", "role": "user", "content": [
        {"type": "input_text", "text": "MARK-one TOOL-WRITE /x/y"},
        {"type": "input_text", "text": "<environment_context>CUT</environment_context>"},
    ]});
    let got = events(&model, RESPONSES, &codex_says(&json!([prompt])));
    let call = &got[2]["item"];
    assert_eq!(
        (&call["name"], &call["arguments"]),
        (&json!("exec_command"), &json!(r#"{"cmd":"echo written > /x/y"}"#))
    );
    let output =
        json!({"type": "function_call_output", "call_id": call["call_id"], "output": "Output:\nfine"});
    let got = events(&model, RESPONSES, &codex_says(&json!([prompt, call, output])));
    assert_eq!(got[2]["delta"], "SEEN n=1 marks=MARK-one tool=Output:\\nfine");
}

#[test]
fn failures_have_their_status_and_once_is_once() {
    let model = ScriptedModel::start();
    let claude = |text: &str| post(&model, MESSAGES, &claude_says(&json!([user(text)]))).0;
    let codex = |text: &str| ask(&model, "POST", RESPONSES, &codex_says(&json!([user(text)]))).0;
    for (word, for_claude, for_codex) in [
        ("FAIL500", 500, 500),
        ("OVERLOAD", 529, 429),
        ("RATE429", 429, 429),
        ("AUTH401", 401, 401),
        ("BAD400", 400, 400),
    ] {
        assert_eq!((claude(word), codex(word)), (for_claude, for_codex), "{word}");
    }
    assert_eq!((claude("ONCE500 a"), claude("ONCE500 a"), claude("ONCE500 b")), (500, 200, 500));
    let (_, head, _) = ask(&model, "POST", MESSAGES, &claude_says(&json!([user("RATE429")])));
    assert!(head.contains("retry-after: 1"), "{head}");
}

#[test]
fn a_stream_can_fail_or_be_cut_midway() {
    let model = ScriptedModel::start();
    let mut body = claude_says(&json!([user("MIDFAIL")]));
    body["stream"] = json!(true);
    assert_eq!(types(&events(&model, MESSAGES, &body)).last(), Some(&"error"));
    body["messages"] = json!([user("CUT")]);
    assert_eq!(types(&events(&model, MESSAGES, &body)).last(), Some(&"content_block_delta"));
    let codex = |text: &str| events(&model, RESPONSES, &codex_says(&json!([user(text)])));
    assert_eq!(types(&codex("MIDFAIL")).last(), Some(&"response.failed"));
    assert_eq!(types(&codex("CUT")).last(), Some(&"response.output_text.delta"));
}

#[test]
fn stopping_does_not_wait_for_slow_or_hanging_answers() {
    let model = ScriptedModel::start();
    let port = model.port();
    std::thread::scope(|scope| {
        for word in ["SLOW", "HANG"] {
            let model = &model;
            scope.spawn(move || {
                let mut body = claude_says(&json!([user(word)]));
                body["stream"] = json!(true);
                let body = body.to_string();
                let mut stream = TcpStream::connect(("127.0.0.1", model.port())).unwrap();
                write!(stream, "POST /v1/messages HTTP/1.1\r\ncontent-length: {}\r\n\r\n{body}", body.len())
                    .unwrap();
            });
        }
        assert!(model.wait_for_calls(2, Duration::from_secs(10)));
    });
    let start = Instant::now();
    drop(model);
    assert!(start.elapsed() < Duration::from_secs(5));
    assert_eq!(ScriptedModel::start_on(port).port(), port);
}

#[test]
fn what_was_sent_before_is_cached() {
    let model = ScriptedModel::start();
    let first = claude_says(&json!([user("a prompt of some length MARK-one")]));
    let second = claude_says(&json!([user("a prompt of some length MARK-one"), user("MARK-two")]));
    assert_eq!(post(&model, MESSAGES, &first).1["usage"]["cache_read_input_tokens"], 0);
    let usage = &post(&model, MESSAGES, &second).1["usage"];
    assert!(usage["cache_read_input_tokens"].as_u64() > Some(5), "{usage}");
    assert!(usage["input_tokens"].as_u64() > Some(0), "{usage}");
}

#[test]
fn other_questions_get_quiet_answers_and_are_no_calls() {
    let model = ScriptedModel::start();
    let (status, count) = post(&model, "/v1/messages/count_tokens", &claude_says(&json!([user("MARK-one")])));
    assert_eq!(status, 200);
    assert!(count["input_tokens"].as_u64() > Some(0));
    let (status, _, body) = ask(&model, "HEAD", "/", &Value::Null);
    assert_eq!((status, body.as_str()), (200, ""));
    assert_eq!(ask(&model, "GET", "/v1/models", &Value::Null).0, 200);
    assert_eq!(ask(&model, "GET", "/nothing", &Value::Null).0, 404);
    assert_eq!(post(&model, "/api/event_logging/batch", &json!({})).0, 200);
    assert_eq!(model.requests().len(), 5);
    assert!(!model.wait_for_calls(1, Duration::from_millis(20)));
}

#[test]
fn one_connection_carries_several_requests() {
    let model = ScriptedModel::start();
    let mut stream = TcpStream::connect(("127.0.0.1", model.port())).unwrap();
    stream.write_all(b"HEAD / HTTP/1.1\r\n\r\nGET /v1/models HTTP/1.1\r\n\r\n").unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert_eq!(answer.matches("HTTP/1.1 200").count(), 2);
}
