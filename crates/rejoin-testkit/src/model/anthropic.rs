//! Anthropic Messages, as Claude Code speaks it.

use std::io;

use serde_json::{Value, json};

use super::http::Events;
use super::protocol::{Answer, Conversation, Part, Protocol, Spoken, fresh_id, resets_at, texts};
use super::script::{Failure, ToolCall, is_reminder};
use super::tools::{self, Tool};

const TOOL_RESULT_SHOWN: usize = 300;

/// `POST /v1/messages`.
pub(super) struct Messages;

impl Protocol for Messages {
    fn name(&self) -> &'static str {
        "anthropic"
    }

    fn serves(&self, path: &str) -> bool {
        path.ends_with("/v1/messages")
    }

    fn aside(&self, path: &str, body: &Value) -> Option<Value> {
        path.ends_with("/messages/count_tokens")
            .then(|| json!({"input_tokens": body["messages"].to_string().len() / 4}))
    }

    fn read(&self, _path: &str, body: &Value) -> Conversation {
        let items = body["messages"].as_array().cloned().unwrap_or_default();
        let by_user = |message: &&Value| message["role"] == "user";
        let users = items.iter().filter(by_user).map(|m| texts(&m["content"]).join("\n")).collect();
        // Claude Code puts `system` messages after the user's: the last *user* message holds the prompt.
        let newest = items.iter().rfind(by_user).map_or(&Value::Null, |m| &m["content"]);
        let answered = items.last().is_some_and(|m| m["role"] == "assistant");
        let (prompt, tool_result) = if answered { (String::new(), None) } else { newest_prompt(newest) };
        Conversation {
            model: body["model"].as_str().unwrap_or_default().to_owned(),
            streaming: body["stream"] == true,
            users,
            prompt,
            tool_result,
            offered: tools::offered(&body["tools"]),
            without_usage: false,
            errand: asks_for_a_title(body)
                .then(|| Part::Text(json!({"title": "Scripted title"}).to_string())),
            items,
        }
    }

    fn call(&self, call: &ToolCall, offered: &[Tool]) -> Option<Vec<Part>> {
        let (tool, input) = match call {
            ToolCall::Write(path) => ("Write", json!({"file_path": path, "content": "written\n"})),
            ToolCall::Ask => (
                "AskUserQuestion",
                json!({"questions": [{
                    "question": "Which colour?", "header": "Colour", "multiSelect": false,
                    "options": [
                        {"label": "Red", "description": "the red one"},
                        {"label": "Blue", "description": "the blue one"},
                    ],
                }]}),
            ),
            other => ("Bash", json!({"command": other.command()?, "description": "scripted"})),
        };
        if !offered.iter().any(|offer| offer.name == tool) {
            return None;
        }
        let mut parts = Vec::new();
        if matches!(call, ToolCall::Echo(_)) {
            parts.push(Part::Text("calling the shell".to_owned()));
        }
        parts.push(Part::Call { tool: tool.to_owned(), input });
        Some(parts)
    }

    fn fail(&self, failure: Failure) -> (u16, Value) {
        let (status, kind, message) = match failure {
            Failure::Server => (500, "api_error", "scripted internal error"),
            Failure::Overloaded => (529, "overloaded_error", "scripted overload"),
            Failure::RateLimited => (429, "rate_limit_error", "scripted rate limit"),
            Failure::Unauthorized => (401, "authentication_error", "scripted invalid key"),
            Failure::BadRequest => (400, "invalid_request_error", "scripted bad request"),
            Failure::UsageLimit => {
                let words = "This request would exceed your account's rate limit. Please try again later.";
                (429, "rate_limit_error", words)
            }
        };
        let error = json!({"type": kind, "message": message});
        (status, json!({"type": "error", "error": error, "request_id": "req_scripted"}))
    }

    /// By these a client with a subscription tells which limit it is and when it resets.
    fn headers(&self, failure: Failure) -> Vec<(&'static str, String)> {
        if failure != Failure::UsageLimit {
            return Vec::new();
        }
        vec![
            ("anthropic-ratelimit-unified-status", "rejected".to_owned()),
            ("anthropic-ratelimit-unified-representative-claim", "five_hour".to_owned()),
            ("anthropic-ratelimit-unified-reset", resets_at().to_string()),
            ("anthropic-ratelimit-unified-5h-reset", resets_at().to_string()),
        ]
    }

    fn whole(&self, answer: &Answer) -> Value {
        let content: Vec<Value> = answer
            .parts
            .iter()
            .map(|part| match part {
                Part::Text(text) => json!({"type": "text", "text": text}),
                Part::Call { tool, input } => {
                    json!({"type": "tool_use", "id": fresh_id("toolu"), "name": tool, "input": input})
                }
            })
            .collect();
        let mut message = opening(answer);
        message["content"] = content.into();
        message["stop_reason"] = stop_reason(answer).into();
        message["usage"]["output_tokens"] = answer.tokens.output.into();
        message
    }

    fn stream(&self, answer: &Answer, events: &mut Events<'_>) -> io::Result<()> {
        send(events, "message_start", json!({"message": opening(answer)}))?;
        if answer.hangs(events)? {
            return Ok(());
        }
        for (index, part) in answer.parts.iter().enumerate() {
            match part {
                Part::Text(text) => {
                    let block = json!({"type": "text", "text": ""});
                    send(events, "content_block_start", json!({"index": index, "content_block": block}))?;
                    let spoken = answer.speak(text, events, |events, piece| {
                        delta(events, index, &json!({"type": "text_delta", "text": piece}))
                    })?;
                    if spoken == Spoken::Failed {
                        let error = json!({"type": "api_error", "message": "scripted midstream failure"});
                        send(events, "error", json!({"error": error}))?;
                    }
                    if spoken != Spoken::ToTheEnd {
                        return events.cut();
                    }
                }
                Part::Call { tool, input } => {
                    let block =
                        json!({"type": "tool_use", "id": fresh_id("toolu"), "name": tool, "input": {}});
                    send(events, "content_block_start", json!({"index": index, "content_block": block}))?;
                    let json = input.to_string();
                    delta(events, index, &json!({"type": "input_json_delta", "partial_json": json}))?;
                }
            }
            send(events, "content_block_stop", json!({"index": index}))?;
        }
        let ending = json!({"stop_reason": stop_reason(answer), "stop_sequence": null});
        let usage = json!({"output_tokens": answer.tokens.output});
        send(events, "message_delta", json!({"delta": ending, "usage": usage}))?;
        send(events, "message_stop", json!({}))
    }
}

/// The newest prompt of a user message, and what tools said in it. Plain text counts as a prompt only after the
/// last tool result, and only if the user wrote it.
fn newest_prompt(content: &Value) -> (String, Option<String>) {
    let Some(blocks) = content.as_array() else {
        return (content.as_str().unwrap_or_default().to_owned(), None);
    };
    let mut prompt = String::new();
    let mut results = Vec::new();
    for block in blocks {
        let said = texts(&Value::Array(vec![block.clone()]));
        if block["type"] == "tool_result" {
            results.extend(said);
            prompt.clear();
        } else if let Some(text) = said.into_iter().rfind(|text| !is_reminder(text)) {
            prompt = text;
        }
    }
    let any = blocks.iter().any(|block| block["type"] == "tool_result");
    (prompt, any.then(|| results.join(" ").trim().chars().take(TOOL_RESULT_SHOWN).collect()))
}

/// Claude Code asks for a session title with a schema of that one field.
fn asks_for_a_title(body: &Value) -> bool {
    let properties = body["output_config"]["format"]["schema"]["properties"].as_object();
    properties.is_some_and(|fields| fields.len() == 1 && fields.contains_key("title"))
}

fn opening(answer: &Answer) -> Value {
    let tokens = answer.tokens;
    json!({
        "id": fresh_id("msg"), "type": "message", "role": "assistant", "model": answer.model,
        "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": {
            "input_tokens": tokens.input - tokens.cached, "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": tokens.cached, "output_tokens": 1,
        },
    })
}

fn stop_reason(answer: &Answer) -> &'static str {
    if answer.calls_a_tool() { "tool_use" } else { "end_turn" }
}

fn delta(events: &mut Events<'_>, index: usize, delta: &Value) -> io::Result<()> {
    send(events, "content_block_delta", json!({"index": index, "delta": delta}))
}

fn send(events: &mut Events<'_>, name: &str, mut data: Value) -> io::Result<()> {
    data["type"] = name.into();
    events.send(name, &data)
}
