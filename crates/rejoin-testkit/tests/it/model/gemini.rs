//! The Gemini API.

use rejoin_testkit::ScriptedModel;
use serde_json::{Value, json};

use super::wire::{ask, events, post};

const WHOLE: &str = "/v1beta/models/some-model:generateContent";
const STREAMED: &str = "/v1beta/models/some-model:streamGenerateContent?alt=sse";

fn says(contents: &Value) -> Value {
    let shell = json!({"name": "run_shell_command", "parametersJsonSchema": {"properties": {"command": {}}}});
    json!({"contents": contents, "tools": [{"functionDeclarations": [shell]}]})
}

fn user(text: &str) -> Value {
    json!({"role": "user", "parts": [{"text": text}]})
}

fn streamed(model: &ScriptedModel, contents: &Value) -> Vec<Value> {
    events(model, STREAMED, &says(contents))
}

fn text(document: &Value) -> &str {
    document["candidates"][0]["content"]["parts"][0]["text"].as_str().unwrap()
}

#[test]
fn gemini_answers_with_what_it_has_seen() {
    let model = ScriptedModel::start();
    let said = json!([
        user("<session_context>where you are</session_context>"),
        user("one MARK-one"),
        {"role": "model", "parts": [{"text": "…"}]},
        user("two MARK-two"),
    ]);
    let mut body = says(&said);
    body["systemInstruction"] = json!({"parts": [{"text": "MARK-system"}]});
    let (status, answer) = post(&model, WHOLE, &body);
    assert_eq!((status, text(&answer)), (200, "SEEN n=2 marks=MARK-one,MARK-two"));
    assert_eq!(answer["candidates"][0]["finishReason"], "STOP");
    assert!(answer["usageMetadata"]["promptTokenCount"].as_u64() > Some(10));
    let request = &model.calls()[0];
    assert_eq!((request.path.as_str(), request.protocol), (WHOLE, Some("gemini")));
}

#[test]
fn gemini_counts_messages_that_were_sent_as_one() {
    let model = ScriptedModel::start();
    let merged = json!([{"role": "user", "parts": [{"text": "MARK-one"}, {"text": "MARK-two SLOWLY"}]}]);
    let got = streamed(&model, &merged);
    assert_eq!(got.len(), 1);
    assert_eq!(text(&got[0]), "SEEN n=2 marks=MARK-one,MARK-two");
    assert_eq!(got[0]["candidates"][0]["finishReason"], "STOP");
    assert_eq!(got[0]["modelVersion"], "some-model");
}

#[test]
fn gemini_calls_a_function_and_quotes_its_answer() {
    let model = ScriptedModel::start();
    let got = streamed(&model, &json!([user("MARK-one TOOL-RUN [ls -l]")]));
    let call = &got[0]["candidates"][0]["content"]["parts"][0];
    assert_eq!(call["functionCall"], json!({"name": "run_shell_command", "args": {"command": "ls -l"}}));
    let response = json!({"functionResponse": {"name": "run_shell_command", "response": {"output": "a\nb"}}});
    let said = json!([
        user("MARK-one TOOL-RUN [ls -l]"),
        {"role": "model", "parts": [call]},
        {"role": "user", "parts": [response]},
    ]);
    assert_eq!(text(&streamed(&model, &said)[0]), "SEEN n=1 marks=MARK-one tool=a\\nb");
}

#[test]
fn gemini_has_its_own_failures() {
    let model = ScriptedModel::start();
    let fails = |word: &str| {
        let (status, _, body) = ask(&model, "POST", STREAMED, &says(&json!([user(word)])));
        (status, body.contains("\"error\""))
    };
    for (word, status) in
        [("FAIL500", 500), ("OVERLOAD", 503), ("RATE429", 429), ("AUTH401", 401), ("BAD400", 400)]
    {
        assert_eq!(fails(word), (status, true), "{word}");
    }
    assert_eq!((fails("ONCE500 a").0, fails("ONCE500 a").0), (500, 200));
    let (_, _, failed) = ask(&model, "POST", STREAMED, &says(&json!([user("MIDFAIL")])));
    let error =
        failed.lines().find_map(|line| serde_json::from_str::<Value>(line).ok()?.get("error").cloned());
    assert_eq!(error.unwrap()["code"], 500, "{failed}");
    let cut = streamed(&model, &json!([user("CUT")]));
    assert_eq!((cut.len(), text(&cut[2])), (3, "w2 "));
    assert!(cut[2]["candidates"][0]["finishReason"].is_null());
}

#[test]
fn gemini_asks_much_for_itself() {
    let model = ScriptedModel::start();
    let mut classifier = says(&json!([user("MARK-one FAIL500")]));
    let schema = json!({"type": "object", "properties": {"score": {"type": "integer"}}});
    classifier["generationConfig"] = json!({"responseJsonSchema": schema});
    assert_eq!(text(&post(&model, WHOLE, &classifier).1), r#"{"score":1}"#);
    let mut summary = says(&json!([user("MARK-one FAIL500")]));
    summary["tools"] = json!([]);
    assert_eq!(text(&post(&model, WHOLE, &summary).1), "SEEN n=1 marks=MARK-one");
    let count = post(&model, "/v1beta/models/some-model:countTokens", &summary).1;
    assert!(count["totalTokens"].as_u64() > Some(5), "{count}");
    assert_eq!((model.calls().len(), model.requests().len()), (0, 3));
}
