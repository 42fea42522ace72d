//! OpenAI Chat Completions, as OpenCode, Pi, Qwen Code and many others speak it.

use std::io;

use serde_json::{Value, json};

use super::errand;
use super::http::Events;
use super::protocol::{Answer, Conversation, Part, Protocol, Spoken, fresh_id, texts};
use super::script::{Failure, ToolCall, is_reminder, seen};
use super::tools::{self, Tool};

const TOOL_RESULT_SHOWN: usize = 300;

/// `POST /v1/chat/completions`.
pub(super) struct Chat;

impl Protocol for Chat {
    fn name(&self) -> &'static str {
        "chat"
    }

    fn serves(&self, path: &str) -> bool {
        path.ends_with("/chat/completions")
    }

    fn read(&self, _path: &str, body: &Value) -> Conversation {
        let messages = body["messages"].as_array().cloned().unwrap_or_default();
        let (system, items): (Vec<Value>, Vec<Value>) = messages.into_iter().partition(is_system);
        let by_user = |message: &Value| message["role"] == "user";
        let users: Vec<String> =
            items.iter().filter(|m| by_user(m)).map(|m| texts(&m["content"]).join("\n")).collect();
        let newest = items.iter().rposition(by_user);
        // A tool result after the prompt means that the prompt was acted on: answer normally.
        let result = items[newest.map_or(0, |at| at + 1)..].iter().rfind(|m| m["role"] == "tool");
        let answered = items.last().is_some_and(|m| m["role"] == "assistant");
        let prompt = match (newest, result) {
            (Some(at), None) if !answered => newest_prompt(&items[at]["content"]),
            _ => String::new(),
        };
        let streaming = body["stream"] == true;
        let errand = errand_of(body, &system, &items, &users);
        Conversation {
            model: body["model"].as_str().unwrap_or_default().to_owned(),
            streaming,
            users,
            prompt,
            tool_result: result.map(|message| shown(&message["content"])),
            offered: tools::offered(&body["tools"]),
            without_usage: streaming && body["stream_options"]["include_usage"] != true,
            errand,
            items,
        }
    }

    fn call(&self, call: &ToolCall, offered: &[Tool]) -> Option<Vec<Part>> {
        Some(vec![tools::fitting(call, offered)?])
    }

    fn fail(&self, failure: Failure) -> (u16, Value) {
        let (status, kind, message) = match failure {
            Failure::Server => (500, "server_error", "scripted internal error"),
            Failure::Overloaded => (503, "server_error", "scripted overload"),
            Failure::RateLimited => (429, "rate_limit_exceeded", "scripted rate limit"),
            Failure::Unauthorized => (401, "invalid_api_key", "scripted invalid key"),
            Failure::BadRequest => (400, "invalid_request_error", "scripted bad request"),
            Failure::UsageLimit => {
                let words = "You exceeded your current quota, please check your plan and billing details.";
                (429, "insufficient_quota", words)
            }
        };
        (status, json!({"error": {"message": message, "type": kind, "param": null, "code": kind}}))
    }

    /// Whatever may pass: OpenCode waits for more than a minute where nobody tells it how long.
    fn retry_after(&self, failure: Failure) -> Option<u32> {
        let passes = matches!(failure, Failure::Server | Failure::Overloaded | Failure::RateLimited);
        passes.then_some(1)
    }

    fn whole(&self, answer: &Answer) -> Value {
        let said = |part: &Part| match part {
            Part::Text(text) => Some(text.clone()),
            Part::Call { .. } => None,
        };
        let text: String = answer.parts.iter().filter_map(said).collect();
        let mut message = json!({"role": "assistant", "content": text});
        if answer.calls_a_tool() {
            let calls = answer.parts.iter().filter_map(tool_call).collect();
            message["tool_calls"] = Value::Array(calls);
        }
        let mut document = opening(answer, "chat.completion");
        document["choices"] =
            json!([{"index": 0, "message": message, "finish_reason": finish_reason(answer)}]);
        document["usage"] = usage(answer);
        document
    }

    fn chunked(&self) -> bool {
        true
    }

    fn stream(&self, answer: &Answer, events: &mut Events<'_>) -> io::Result<()> {
        let opening = opening(answer, "chat.completion.chunk");
        send(events, &opening, &json!({"role": "assistant", "content": ""}), None)?;
        if answer.hangs(events)? {
            return Ok(());
        }
        let mut calls = 0;
        for part in &answer.parts {
            match part {
                Part::Text(text) => {
                    let spoken = answer.speak(text, events, |events, piece| {
                        send(events, &opening, &json!({"content": piece}), None)
                    })?;
                    if spoken == Spoken::Failed {
                        let error = json!({"message": "scripted midstream failure", "type": "server_error"});
                        events.data(&json!({"error": error}))?;
                    }
                    if spoken != Spoken::ToTheEnd {
                        return events.cut();
                    }
                }
                Part::Call { .. } => {
                    let mut call = tool_call(part).unwrap_or_default();
                    call["index"] = calls.into();
                    calls += 1;
                    send(events, &opening, &json!({"tool_calls": [call]}), None)?;
                }
            }
        }
        send(events, &opening, &json!({}), Some(finish_reason(answer)))?;
        if !answer.without_usage {
            let mut last = opening;
            last["usage"] = usage(answer);
            events.data(&last)?;
        }
        events.raw("data: [DONE]\n\n")
    }
}

/// What the agent asked for itself: a document with a schema, or one of the known side questions.
fn errand_of(body: &Value, system: &[Value], items: &[Value], users: &[String]) -> Option<Part> {
    let format = &body["response_format"];
    if format["type"] == "json_schema" {
        let document = errand::conforming(&format["json_schema"]["schema"]);
        return Some(Part::Text(document.to_string()));
    }
    // Qwen Code asks for a document by a tool that stands alone.
    let tool = &body["tools"][0]["function"];
    if tool["name"] == "respond_in_schema" {
        let input = errand::conforming(&tool["parameters"]);
        return Some(Part::Call { tool: "respond_in_schema".to_owned(), input });
    }
    let system = system.iter().flat_map(|message| texts(&message["content"])).collect::<Vec<_>>().join("\n");
    let newest = users.last().map_or("", String::as_str);
    errand::known(&system, newest, || seen(items, users)).map(Part::Text)
}

fn is_system(message: &Value) -> bool {
    message["role"] == "system" || message["role"] == "developer"
}

/// The last text the user wrote, or the last text at all.
fn newest_prompt(content: &Value) -> String {
    let said = texts(content);
    said.iter().rfind(|text| !is_reminder(text)).or(said.last()).cloned().unwrap_or_default()
}

fn shown(content: &Value) -> String {
    texts(content).join("\n").trim().chars().take(TOOL_RESULT_SHOWN).collect()
}

fn opening(answer: &Answer, object: &str) -> Value {
    json!({"id": fresh_id("chatcmpl"), "object": object, "created": 0, "model": answer.model, "choices": []})
}

fn tool_call(part: &Part) -> Option<Value> {
    let Part::Call { tool, input } = part else { return None };
    let function = json!({"name": tool, "arguments": input.to_string()});
    Some(json!({"id": fresh_id("call"), "type": "function", "function": function}))
}

fn finish_reason(answer: &Answer) -> &'static str {
    if answer.calls_a_tool() { "tool_calls" } else { "stop" }
}

fn usage(answer: &Answer) -> Value {
    let tokens = answer.tokens;
    json!({
        "prompt_tokens": tokens.input, "prompt_tokens_details": {"cached_tokens": tokens.cached},
        "completion_tokens": tokens.output, "completion_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": tokens.input + tokens.output,
    })
}

fn send(events: &mut Events<'_>, opening: &Value, delta: &Value, finish: Option<&str>) -> io::Result<()> {
    let mut chunk = opening.clone();
    chunk["choices"] = json!([{"index": 0, "delta": delta, "finish_reason": finish}]);
    events.data(&chunk)
}
