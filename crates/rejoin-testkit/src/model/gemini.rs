//! The Gemini API, as Gemini CLI speaks it.

use std::io;
use std::time::Duration;

use serde_json::{Value, json};

use super::errand;
use super::http::Events;
use super::protocol::{Answer, Conversation, Part, Protocol, Spoken, fresh_id};
use super::script::{Failure, ToolCall, is_reminder, seen};
use super::tools::{self, Tool};

const TOOL_RESULT_SHOWN: usize = 300;
const WHOLE: &str = ":generateContent";
const STREAMED: &str = ":streamGenerateContent";

/// `POST /v1beta/models/<model>:generateContent` and `:streamGenerateContent?alt=sse`.
pub(super) struct Gemini;

impl Protocol for Gemini {
    fn name(&self) -> &'static str {
        "gemini"
    }

    fn serves(&self, path: &str) -> bool {
        path.ends_with(WHOLE) || path.ends_with(STREAMED)
    }

    fn aside(&self, path: &str, body: &Value) -> Option<Value> {
        path.ends_with(":countTokens").then(|| json!({"totalTokens": body["contents"].to_string().len() / 4}))
    }

    fn read(&self, path: &str, body: &Value) -> Conversation {
        let items = body["contents"].as_array().cloned().unwrap_or_default();
        // Messages that follow each other are sent as one with several parts, so every part counts.
        let users: Vec<String> =
            items.iter().filter(|item| is_user(item)).flat_map(|item| texts(&item["parts"])).collect();
        let newest = items.last().filter(|item| is_user(item)).map_or(&Value::Null, |item| &item["parts"]);
        let (prompt, tool_result) = newest_prompt(newest);
        let declared = body["tools"].as_array().into_iter().flatten();
        let offered: Vec<Tool> =
            declared.flat_map(|tool| tools::offered(&tool["functionDeclarations"])).collect();
        let streaming = path.ends_with(STREAMED);
        let errand = errand_of(body).or_else(|| {
            // What a user waits for is streamed; this is a summary for the agent itself.
            (!streaming && offered.is_empty()).then(|| seen(&items, &users))
        });
        let errand = errand.map(Part::Text);
        let model = path.rsplit('/').next().and_then(|name| name.split(':').next()).unwrap_or_default();
        Conversation {
            model: model.to_owned(),
            streaming,
            users,
            prompt,
            tool_result,
            offered,
            without_usage: false,
            errand,
            items,
        }
    }

    fn call(&self, call: &ToolCall, offered: &[Tool]) -> Option<Vec<Part>> {
        Some(vec![tools::fitting(call, offered)?])
    }

    fn fail(&self, failure: Failure) -> (u16, Value) {
        let (code, status, message) = match failure {
            Failure::Server => (500, "INTERNAL", "scripted internal error"),
            Failure::Overloaded => (503, "UNAVAILABLE", "scripted overload"),
            Failure::RateLimited => (429, "RESOURCE_EXHAUSTED", "scripted rate limit"),
            Failure::Unauthorized => (401, "UNAUTHENTICATED", "scripted invalid key"),
            Failure::BadRequest => (400, "INVALID_ARGUMENT", "scripted bad request"),
            Failure::UsageLimit => {
                let words =
                    "You have exhausted your capacity on this model. Your quota will reset after 2h0m0s.";
                (429, "RESOURCE_EXHAUSTED", words)
            }
        };
        (code, json!({"error": {"code": code, "message": message, "status": status}}))
    }

    fn whole(&self, answer: &Answer) -> Value {
        let parts: Vec<Value> = answer.parts.iter().map(part).collect();
        document(answer, &fresh_id("resp"), &parts, true)
    }

    fn chunked(&self) -> bool {
        true
    }

    fn stream(&self, answer: &Answer, events: &mut Events<'_>) -> io::Result<()> {
        let id = fresh_id("resp");
        if answer.hangs(events)? {
            return Ok(());
        }
        let last = answer.parts.len().saturating_sub(1);
        for (index, said) in answer.parts.iter().enumerate() {
            let Part::Text(text) = said else {
                events.data(&document(answer, &id, &[part(said)], index == last))?;
                continue;
            };
            let spoken = answer.speak(text, events, |events, piece| {
                // The whole text is the last piece, whatever came before it.
                let ends = index == last && piece == text;
                events.data(&document(answer, &id, &[json!({"text": piece})], ends))
            })?;
            if spoken == Spoken::Failed {
                let error =
                    json!({"code": 500, "message": "scripted midstream failure", "status": "INTERNAL"});
                // Its client looks for an error in what is no event and comes in a piece of its own.
                events.pause(Duration::from_millis(100))?;
                events.raw(&format!("{}\n", json!({"error": error})))?;
            }
            if spoken != Spoken::ToTheEnd {
                return events.cut();
            }
        }
        Ok(())
    }
}

/// Classifiers, loop detectors and correctors ask for a document with a schema.
fn errand_of(body: &Value) -> Option<String> {
    let config = &body["generationConfig"];
    let schema = [&config["responseJsonSchema"], &config["responseSchema"]];
    schema.into_iter().find(|schema| schema.is_object()).map(|schema| errand::conforming(schema).to_string())
}

fn is_user(item: &Value) -> bool {
    item["role"] == "user" || item["role"].is_null()
}

fn texts(parts: &Value) -> Vec<String> {
    let parts = parts.as_array().into_iter().flatten();
    parts.filter_map(|part| part["text"].as_str().map(str::to_owned)).collect()
}

/// The newest prompt of a user message, and what tools said in it. Text counts as a prompt only after the last
/// tool result.
fn newest_prompt(parts: &Value) -> (String, Option<String>) {
    let (mut prompt, mut results) = (String::new(), Vec::new());
    for part in parts.as_array().into_iter().flatten() {
        if let Some(response) = part.get("functionResponse") {
            results.push(shown(&response["response"]));
            prompt.clear();
        } else if let Some(text) = part["text"].as_str().filter(|text| !is_reminder(text)) {
            text.clone_into(&mut prompt);
        }
    }
    (prompt, (!results.is_empty()).then(|| results.join(" ")))
}

fn shown(response: &Value) -> String {
    let output = if response["output"].is_null() { response } else { &response["output"] };
    let text = output.as_str().map_or_else(|| output.to_string(), str::to_owned);
    text.trim().chars().take(TOOL_RESULT_SHOWN).collect()
}

fn part(part: &Part) -> Value {
    match part {
        Part::Text(text) => json!({"text": text}),
        Part::Call { tool, input } => json!({"functionCall": {"name": tool, "args": input}}),
    }
}

fn document(answer: &Answer, id: &str, parts: &[Value], ends: bool) -> Value {
    let tokens = answer.tokens;
    let mut candidate = json!({"index": 0, "content": {"role": "model", "parts": parts}});
    if ends {
        candidate["finishReason"] = "STOP".into();
    }
    json!({
        "candidates": [candidate], "modelVersion": answer.model, "responseId": id,
        "usageMetadata": {
            "promptTokenCount": tokens.input, "cachedContentTokenCount": tokens.cached,
            "candidatesTokenCount": tokens.output, "totalTokenCount": tokens.input + tokens.output,
        },
    })
}
