//! OpenAI Chat Completions.

use rejoin_testkit::ScriptedModel;
use serde_json::{Value, json};

use super::wire::{ask, events, post, user};

const PATH: &str = "/v1/chat/completions";

fn says(messages: &Value) -> Value {
    let bash = json!({"name": "bash", "parameters": {"properties": {"command": {}, "description": {}}}});
    json!({"model": "some-model", "messages": messages, "tools": [{"type": "function", "function": bash}]})
}

fn streamed(model: &ScriptedModel, messages: &Value) -> Vec<Value> {
    let mut body = says(messages);
    body["stream"] = json!(true);
    body["stream_options"] = json!({"include_usage": true});
    events(model, PATH, &body)
}

fn text(document: &Value) -> &str {
    document["choices"][0]["message"]["content"].as_str().unwrap()
}

#[test]
fn chat_answers_with_what_it_has_seen() {
    let model = ScriptedModel::start();
    let said = json!([
        {"role": "system", "content": "MARK-system"},
        user("one MARK-one"),
        {"role": "assistant", "content": "…"},
        {"role": "user", "content": [{"type": "text", "text": "two MARK-two"}]},
    ]);
    let (status, answer) = post(&model, PATH, &says(&said));
    assert_eq!((status, text(&answer)), (200, "SEEN n=2 marks=MARK-one,MARK-two"));
    assert_eq!(answer["choices"][0]["finish_reason"], "stop");
    assert!(answer["usage"]["prompt_tokens"].as_u64() > Some(10));
    assert_eq!(model.calls()[0].protocol, Some("chat"));
}

#[test]
fn chat_streams_and_tells_usage_only_when_asked() {
    let model = ScriptedModel::start();
    let got = streamed(&model, &json!([user("MARK-one")]));
    let deltas: Vec<&Value> = got.iter().map(|event| &event["choices"][0]["delta"]).collect();
    assert_eq!(deltas[0]["role"], "assistant");
    assert_eq!(deltas[1]["content"], "SEEN n=1 marks=MARK-one");
    assert_eq!(got[2]["choices"][0]["finish_reason"], "stop");
    assert_eq!((got.len(), &got[3]["choices"]), (4, &json!([])));
    assert!(got[3]["usage"]["completion_tokens"].as_u64() > Some(1));
    let mut body = says(&json!([user("MARK-one")]));
    body["stream"] = json!(true);
    let unasked = ask(&model, "POST", PATH, &body);
    assert!(unasked.1.contains("transfer-encoding: chunked"), "{}", unasked.1);
    assert!(unasked.2.contains("data: [DONE]\n") && !unasked.2.contains("usage"), "{}", unasked.2);
}

#[test]
fn chat_calls_a_function_and_quotes_its_answer() {
    let model = ScriptedModel::start();
    let got = streamed(&model, &json!([user("MARK-one TOOL-ECHO hello")]));
    let call = &got[1]["choices"][0]["delta"]["tool_calls"][0];
    let arguments = r#"{"command":"echo hello","description":"scripted"}"#;
    assert_eq!(call["function"], json!({"name": "bash", "arguments": arguments}));
    assert_eq!(got[2]["choices"][0]["finish_reason"], "tool_calls");
    let said = json!([
        user("MARK-one TOOL-ECHO hello"),
        {"role": "assistant", "content": null, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call["id"], "content": "hello\n"},
    ]);
    assert_eq!(text(&post(&model, PATH, &says(&said)).1), "SEEN n=1 marks=MARK-one tool=hello");
    let whole = post(&model, PATH, &says(&json!([user("TOOL-ECHO x")]))).1;
    assert_eq!(whole["choices"][0]["message"]["tool_calls"][0]["function"]["name"], "bash");
}

#[test]
fn chat_has_its_own_failures() {
    let model = ScriptedModel::start();
    let status = |word: &str| ask(&model, "POST", PATH, &says(&json!([user(word)]))).0;
    for (word, expected) in
        [("FAIL500", 500), ("OVERLOAD", 503), ("RATE429", 429), ("AUTH401", 401), ("BAD400", 400)]
    {
        assert_eq!(status(word), expected, "{word}");
    }
    assert_eq!((status("ONCE500 a"), status("ONCE500 a")), (500, 200));
    let failed = streamed(&model, &json!([user("MIDFAIL")]));
    assert_eq!(failed.last().unwrap()["error"]["type"], "server_error");
    let cut = streamed(&model, &json!([user("CUT")]));
    assert_eq!(cut.last().unwrap()["choices"][0]["delta"]["content"], "w2 ");
}

#[test]
fn chat_knows_what_agents_ask_for_themselves() {
    let model = ScriptedModel::start();
    let prompt = user("MARK-one FAIL500");
    let with_system = |system: &str| says(&json!([{"role": "system", "content": system}, prompt]));
    let title = post(&model, PATH, &with_system("You are a title generator. …")).1;
    assert_eq!(text(&title), "Scripted title");
    let summary = post(&model, PATH, &with_system("You are a context summarization assistant. …")).1;
    assert_eq!(text(&summary), "SEEN n=1 marks=MARK-one");
    let mut document = says(&json!([prompt]));
    let schema = json!({"type": "object", "properties": {"sure": {"type": "boolean"}}});
    document["tools"][0]["function"] = json!({"name": "respond_in_schema", "parameters": schema});
    let call = &post(&model, PATH, &document).1["choices"][0]["message"]["tool_calls"][0]["function"];
    assert_eq!(call["arguments"], r#"{"sure":false}"#);
    document["tools"] = Value::Null;
    document["response_format"] = json!({"type": "json_schema", "json_schema": {"schema": schema}});
    assert_eq!(text(&post(&model, PATH, &document).1), r#"{"sure":false}"#);
    assert_eq!((model.calls().len(), model.requests().len()), (0, 4));
}
