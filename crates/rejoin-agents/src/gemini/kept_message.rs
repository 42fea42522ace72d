//! What is kept of a message: the fullest of all its versions. When a session is resumed Gemini writes all messages
//! again, without tokens, models, thoughts and tools.

use std::collections::HashSet;

use rejoin_core::Usage;
use serde_json::Value;

use super::typed::{FILES, typed};
use super::whole_record::{FunctionResponse, WholeMessage, WholePart};
use super::wire::usage;
use crate::loose::TextOr;
use crate::stored_sessions::{StoredAnswer, StoredStep, milliseconds, shortened_output};

/// Nobody sends more files with a prompt.
const MOST_FILES: usize = 1000;

/// A message.
#[derive(Default)]
pub(super) struct KeptMessage {
    pub(super) id: String,
    pub(super) is_answer: bool,
    /// What the user typed, or what the model said.
    pub(super) text: String,
    pub(super) attached: Vec<String>,
    thought: String,
    model: Option<String>,
    usage: Option<Usage>,
    pub(super) time_ms: Option<i64>,
    calls: Vec<KeptCall>,
    /// What tools gave back, by call, where that is a message of its own.
    results: Vec<(String, KeptResult)>,
}

struct KeptCall {
    id: String,
    name: String,
    input: Value,
    was_cancelled: bool,
    result: Option<KeptResult>,
}

#[derive(Clone)]
struct KeptResult {
    output: String,
    failed: bool,
}

impl KeptMessage {
    /// What is kept of a message. It is a prompt, if it has a text and is no answer.
    pub(super) fn of(message: WholeMessage<'_>) -> Self {
        let WholeMessage { id, timestamp, role, content, display, calls, thoughts, tokens, model } = message;
        let mut kept = Self {
            id: id.into_string(),
            is_answer: role.as_str() == "gemini",
            time_ms: milliseconds(timestamp.as_str()),
            model: model.into_filled(),
            usage: tokens
                .0
                .map(|it| usage(it.input, it.cached, it.output, it.total))
                .filter(|it| !it.is_zero()),
            ..Self::default()
        };
        if let Some(text) = typed(role.as_str(), &content, &display) {
            kept.text = text.into_owned();
            kept.attached = attached(&content);
        } else if role.as_str() != "user" {
            kept.text = said(&content);
        }
        for thought in thoughts.0 {
            let (subject, description) = (thought.subject.as_str(), thought.description.as_str());
            kept.think(&if subject.is_empty() {
                description.to_owned()
            } else {
                format!("**{subject}** {description}")
            });
        }
        kept.calls = calls
            .0
            .into_iter()
            .map(|call| {
                let status = call.status.as_str();
                let failed = matches!(status, "error" | "cancelled");
                let has_ended = failed || status == "success";
                let output =
                    given_back(&call.result).or_else(|| call.result_display.get().map(str::to_owned));
                let result = output.or(has_ended.then(String::new));
                KeptCall {
                    was_cancelled: status == "cancelled",
                    result: result.map(|output| KeptResult { output: shortened_output(output), failed }),
                    id: call.id.into_string(),
                    name: call.name.into_string(),
                    input: call.args,
                }
            })
            .collect();
        if let TextOr::Blocks(parts) = content {
            kept.take_parts(parts);
        }
        kept
    }

    /// A message that is a summary, which is told by its text.
    pub(super) fn summary(message: WholeMessage<'_>, text: String) -> Self {
        Self { text, ..Self::of(message) }
    }

    fn think(&mut self, thought: &str) {
        if !self.thought.is_empty() {
            self.thought.push('\n');
        }
        self.thought.push_str(thought.trim());
    }

    fn take_parts(&mut self, parts: Vec<WholePart<'_>>) {
        let (has_thoughts, has_calls) = (!self.thought.is_empty(), !self.calls.is_empty());
        for part in parts {
            if part.thought.is_set() && self.is_answer && !has_thoughts {
                self.think(part.text.as_str());
            }
            if let Some(call) = part.function_call.0.filter(|_| self.is_answer && !has_calls) {
                self.calls.push(KeptCall {
                    id: call.id.into_string(),
                    name: call.name.into_string(),
                    input: call.args,
                    was_cancelled: false,
                    result: None,
                });
            }
            if let Some(response) = part.function_response.0.filter(|_| !self.is_answer) {
                let result = result_in(&response);
                self.results.push((response.id.into_string(), result));
            }
        }
    }

    /// Takes from another version of it what this one lacks.
    pub(super) fn fill(&mut self, other: Self) {
        // What is streamed grows, and calls are added when they have ended.
        if other.text.len() > self.text.len() && (self.is_answer || self.text.is_empty()) {
            self.text = other.text;
        }
        let ended = |calls: &[KeptCall]| calls.iter().filter(|call| call.result.is_some()).count();
        if (other.calls.len(), ended(&other.calls)) > (self.calls.len(), ended(&self.calls)) {
            self.calls = other.calls;
        }
        if self.thought.is_empty() {
            self.thought = other.thought;
        }
        if self.attached.is_empty() {
            self.attached = other.attached;
        }
        if self.results.is_empty() {
            self.results = other.results;
        }
        self.model = self.model.take().or(other.model);
        self.usage = self.usage.or(other.usage);
        self.time_ms = self.time_ms.or(other.time_ms);
    }

    /// It says something and calls nothing.
    pub(super) fn is_last_word(&self) -> bool {
        self.is_answer && !self.text.is_empty() && self.calls.is_empty()
    }

    /// The user stopped a tool.
    pub(super) fn was_cancelled(&self) -> bool {
        self.calls.iter().any(|call| call.was_cancelled)
    }

    /// Only the model's own messages tell of tokens.
    pub(super) fn was_counted(&self) -> bool {
        self.usage.is_some()
    }

    /// What it adds to a turn. `answered` are the calls whose results were told: a resumed session tells them twice.
    pub(super) fn steps(self, answered: &mut HashSet<String>, steps: &mut Vec<StoredStep>) {
        if self.is_answer && (!self.text.is_empty() || !self.thought.is_empty() || self.usage.is_some()) {
            steps.push(StoredStep::Answer(StoredAnswer {
                id: self.id.clone(),
                text: self.text,
                thought: self.thought,
                model: self.model,
                usage: self.usage,
                time_ms: self.time_ms,
            }));
        }
        let mut results = self.results;
        for (at, call) in self.calls.into_iter().enumerate() {
            let id = if call.id.is_empty() { format!("{}/{at}", self.id) } else { call.id };
            results.extend(call.result.map(|result| (id.clone(), result)));
            steps.push(StoredStep::Call { id, name: call.name, input: call.input });
        }
        for (call, KeptResult { output, failed }) in results {
            if answered.insert(call.clone()) {
                steps.push(StoredStep::Result { call, output, failed });
            }
        }
    }
}

/// What the model said.
fn said(content: &TextOr<'_, WholePart<'_>>) -> String {
    match content {
        TextOr::Text(text) => text.clone().into_owned(),
        TextOr::Blocks(parts) => {
            parts.iter().filter(|part| !part.thought.is_set()).map(|part| part.text.as_str()).collect()
        }
        TextOr::Neither => String::new(),
    }
}

/// The names of files whose contents were sent; of those without a name, what they are.
fn attached(content: &TextOr<'_, WholePart<'_>>) -> Vec<String> {
    let TextOr::Blocks(parts) = content else { return Vec::new() };
    let mut names = Vec::new();
    let mut is_behind = false;
    for part in parts {
        let text = part.text.as_str().trim();
        is_behind |= text.starts_with(FILES);
        let name = text.strip_prefix("Content from @").and_then(|text| text.split_once(':'));
        names.extend(name.filter(|_| is_behind).map(|(name, _)| name.to_owned()));
        for data in part.inline_data.0.iter().chain(&part.file_data.0) {
            let name = data.display_name.filled().or(data.file_uri.filled()).or(data.mime_type.filled());
            names.extend(name.map(str::to_owned));
        }
        if names.len() >= MOST_FILES {
            break;
        }
    }
    names
}

/// What a tool gave back, as the model was told.
fn given_back(result: &TextOr<'_, WholePart<'_>>) -> Option<String> {
    match result {
        TextOr::Text(text) => Some(text.clone().into_owned()),
        TextOr::Blocks(parts) => {
            let texts = parts.iter().filter_map(|part| match &part.function_response.0 {
                Some(response) => Some(result_in(response).output),
                None => part.text.get().map(str::to_owned),
            });
            let texts: Vec<String> = texts.collect();
            (!texts.is_empty()).then(|| texts.join("\n"))
        }
        TextOr::Neither => None,
    }
}

fn result_in(response: &FunctionResponse<'_>) -> KeptResult {
    let (told, failed) = match &response.response {
        Value::Object(told) if told.contains_key("output") => (told.get("output"), false),
        Value::Object(told) if told.contains_key("error") => (told.get("error"), true),
        told => (Some(told), false),
    };
    let output = match told {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => String::new(),
        Some(told) => told.to_string(),
    };
    KeptResult { output: shortened_output(output), failed }
}
