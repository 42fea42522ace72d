//! OpenAI Responses, as Codex speaks it.

use std::io;

use serde_json::{Value, json};

use super::http::Events;
use super::protocol::{Answer, Conversation, Part, Protocol, Spoken, fresh_id, resets_at, texts};
use super::script::{Failure, ToolCall, is_reminder};
use super::tools::{self, Tool};

const TOOL_RESULT_SHOWN: usize = 300;

/// `POST /v1/responses`.
pub(super) struct Responses;

impl Protocol for Responses {
    fn name(&self) -> &'static str {
        "responses"
    }

    fn serves(&self, path: &str) -> bool {
        path.ends_with("/responses")
    }

    fn read(&self, _path: &str, body: &Value) -> Conversation {
        let items = match &body["input"] {
            Value::String(text) => {
                vec![
                    json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}),
                ]
            }
            Value::Array(items) => items.clone(),
            _ => Vec::new(),
        };
        let users = items
            .iter()
            .filter(|item| is_user(item))
            .map(|item| texts(&item["content"]).join("\n"))
            .collect();
        let newest = items.iter().rposition(is_user);
        // A tool output after the prompt means that the prompt was acted on: answer normally.
        let output = items[newest.map_or(0, |at| at + 1)..]
            .iter()
            .rfind(|item| item["type"].as_str().is_some_and(|kind| kind.ends_with("_output")));
        let prompt = match (newest, output) {
            (Some(at), None) => newest_prompt(&items[at]["content"]),
            _ => String::new(),
        };
        Conversation {
            model: body["model"].as_str().unwrap_or_default().to_owned(),
            streaming: body["stream"] != false,
            users,
            prompt,
            tool_result: output.map(|item| shown(&item["output"])),
            offered: tools::offered(&body["tools"]),
            without_usage: false,
            errand: None,
            items,
        }
    }

    fn call(&self, call: &ToolCall, offered: &[Tool]) -> Option<Vec<Part>> {
        let has = |name: &str| offered.iter().any(|tool| tool.name == name);
        let (tool, input) = match call.command() {
            Some(command) if has("exec_command") => ("exec_command", json!({"cmd": command})),
            Some(command) if has("shell_command") => ("shell_command", json!({"command": command})),
            Some(command) if has("shell") => ("shell", json!({"command": ["bash", "-lc", command]})),
            None if has("request_user_input") => (
                "request_user_input",
                json!({"questions": [{
                    "id": "colour", "header": "Colour", "question": "Which colour?",
                    "options": [
                        {"label": "Red", "description": "the red one"},
                        {"label": "Blue", "description": "the blue one"},
                    ],
                }]}),
            ),
            _ => return None,
        };
        Some(vec![Part::Call { tool: tool.to_owned(), input }])
    }

    fn fail(&self, failure: Failure) -> (u16, Value) {
        let (status, kind, message) = match failure {
            Failure::Server => (500, "api_error", "scripted internal error"),
            Failure::Overloaded => (429, "rate_limit_exceeded", "scripted overload"),
            Failure::RateLimited => (429, "rate_limit_error", "scripted rate limit"),
            Failure::Unauthorized => (401, "authentication_error", "scripted invalid key"),
            Failure::BadRequest => (400, "invalid_request_error", "scripted bad request"),
            // As seen from the service behind Codex.
            Failure::UsageLimit => {
                let error = json!({
                    "type": "usage_limit_reached", "message": "The usage limit has been reached", "plan_type": "plus",
                    "resets_at": resets_at(), "resets_in_seconds": 2 * 3600,
                });
                return (429, json!({"error": error}));
            }
        };
        (status, json!({"error": {"message": message, "type": kind, "param": null, "code": null}}))
    }

    fn whole(&self, answer: &Answer) -> Value {
        let items = answer.parts.iter().map(finished_item).collect();
        finished(opening(answer), items, answer)
    }

    fn stream(&self, answer: &Answer, events: &mut Events<'_>) -> io::Result<()> {
        let opening = opening(answer);
        let mut numbered = Numbered { next: 0 };
        numbered.send(events, "response.created", json!({"response": opening}))?;
        if answer.hangs(events)? {
            return Ok(());
        }
        let mut items = Vec::new();
        for (index, part) in answer.parts.iter().enumerate() {
            let item = finished_item(part);
            let mut begun = item.clone();
            begun["status"] = "in_progress".into();
            if let Part::Text(text) = part {
                begun["content"] = json!([]);
                numbered.send(
                    events,
                    "response.output_item.added",
                    json!({"output_index": index, "item": begun}),
                )?;
                let spoken = answer.speak(text, events, |events, piece| {
                    let data = json!({
                        "item_id": item["id"], "output_index": index, "content_index": 0, "delta": piece,
                    });
                    numbered.send(events, "response.output_text.delta", data)
                })?;
                if spoken == Spoken::Failed {
                    let mut failed = opening.clone();
                    failed["status"] = "failed".into();
                    failed["error"] =
                        json!({"code": "server_error", "message": "scripted midstream failure"});
                    numbered.send(events, "response.failed", json!({"response": failed}))?;
                }
                if spoken != Spoken::ToTheEnd {
                    return events.cut();
                }
            } else {
                numbered.send(
                    events,
                    "response.output_item.added",
                    json!({"output_index": index, "item": begun}),
                )?;
            }
            numbered.send(
                events,
                "response.output_item.done",
                json!({"output_index": index, "item": item}),
            )?;
            items.push(item);
        }
        numbered.send(events, "response.completed", json!({"response": finished(opening, items, answer)}))
    }
}

/// Every event of a response carries its number.
struct Numbered {
    next: u32,
}

impl Numbered {
    fn send(&mut self, events: &mut Events<'_>, name: &str, mut data: Value) -> io::Result<()> {
        data["type"] = name.into();
        data["sequence_number"] = self.next.into();
        self.next += 1;
        events.send(name, &data)
    }
}

fn is_user(item: &Value) -> bool {
    item["role"] == "user" && (item["type"].is_null() || item["type"] == "message")
}

/// The last text the user wrote, or the last text at all.
fn newest_prompt(content: &Value) -> String {
    let said = texts(content);
    said.iter().rfind(|text| !is_reminder(text)).or(said.last()).cloned().unwrap_or_default()
}

/// The end of a tool's output: Codex puts the interesting part last.
fn shown(output: &Value) -> String {
    let text = output.as_str().map_or_else(|| output.to_string(), str::to_owned);
    let skip = text.chars().count().saturating_sub(TOOL_RESULT_SHOWN);
    text.chars().skip(skip).collect()
}

fn opening(answer: &Answer) -> Value {
    json!({
        "id": fresh_id("resp"), "object": "response", "created_at": 0,
        "model": answer.model, "status": "in_progress", "output": [],
    })
}

fn finished_item(part: &Part) -> Value {
    match part {
        Part::Text(text) => json!({
            "type": "message", "id": fresh_id("msg"), "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}],
        }),
        Part::Call { tool, input } => json!({
            "type": "function_call", "id": fresh_id("fc"), "call_id": fresh_id("call"), "status": "completed",
            "name": tool, "arguments": input.to_string(),
        }),
    }
}

fn finished(mut response: Value, items: Vec<Value>, answer: &Answer) -> Value {
    let tokens = answer.tokens;
    response["status"] = "completed".into();
    response["output"] = items.into();
    response["usage"] = json!({
        "input_tokens": tokens.input, "input_tokens_details": {"cached_tokens": tokens.cached},
        "output_tokens": tokens.output, "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": tokens.input + tokens.output,
    });
    response
}
