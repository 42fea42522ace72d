//! The lines of `codex exec --json`, as far as they matter here.

use rejoin_core::Usage;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::loose::{Number, Object, Text, TextOr};
use crate::stream_json::blocks::Inner;

/// One line; which fields are filled depends on its type.
#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(super) struct Wire<'a> {
    #[serde(rename = "type")]
    pub(super) kind: Text<'a>,
    pub(super) thread_id: Text<'a>,
    pub(super) model: Text<'a>,
    pub(super) message: Text<'a>,
    pub(super) delta: Text<'a>,
    pub(super) error: Object<Words<'a>>,
    pub(super) usage: Object<Tokens>,
    pub(super) item: Object<Item<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(super) struct Words<'a> {
    pub(super) message: Text<'a>,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(super) struct Item<'a> {
    pub(super) id: Text<'a>,
    #[serde(rename = "type", alias = "item_type")]
    pub(super) kind: Text<'a>,
    pub(super) text: Text<'a>,
    pub(super) message: Text<'a>,
    pub(super) status: Text<'a>,
    command: Text<'a>,
    aggregated_output: Text<'a>,
    exit_code: Number,
    changes: Value,
    server: Text<'a>,
    tool: Text<'a>,
    arguments: Value,
    prompt: Text<'a>,
    result: Object<Result<'a>>,
    error: Object<Words<'a>>,
    query: Text<'a>,
    items: Value,
}

/// What an MCP tool gave back.
#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
struct Result<'a> {
    content: TextOr<'a, Inner<'a>>,
}

/// Counted tokens; cached ones are part of the input.
#[derive(Clone, Copy, Deserialize, Default)]
#[serde(default)]
pub(super) struct Tokens {
    #[serde(rename = "input_tokens")]
    input: Number,
    #[serde(rename = "cached_input_tokens")]
    cached: Number,
    #[serde(rename = "output_tokens")]
    output: Number,
}

impl From<Tokens> for Usage {
    fn from(tokens: Tokens) -> Usage {
        let cached = tokens.cached.count();
        Usage { input: tokens.input.count().saturating_sub(cached), cached, output: tokens.output.count() }
    }
}

impl Item<'_> {
    /// The name of the tool it is a call of, as the model knows it; `None` if it is no call.
    pub(super) fn tool(&self) -> Option<String> {
        Some(match self.kind.as_str() {
            "command_execution" => "shell".to_owned(),
            "file_change" => "apply_patch".to_owned(),
            "todo_list" => "update_plan".to_owned(),
            "web_search" => "web_search".to_owned(),
            "mcp_tool_call" => format!("mcp__{}__{}", self.server.as_str(), self.tool.as_str()),
            kind if kind.ends_with("_tool_call") => self.tool.filled().unwrap_or(kind).to_owned(),
            "image_generation" | "image_view" => self.kind.as_str().to_owned(),
            _ => return None,
        })
    }

    /// Whether it is its plan for the turn: a list, not a call that runs.
    pub(super) fn is_plan(&self) -> bool {
        self.kind.as_str() == "todo_list"
    }

    /// Whether it is of a kind that this file knows.
    pub(super) fn is_known(&self) -> bool {
        self.tool().is_some()
            || matches!(self.kind.as_str(), "agent_message" | "assistant_message" | "reasoning")
    }

    /// The arguments of the call.
    pub(super) fn input(&self) -> Value {
        match self.kind.as_str() {
            "command_execution" => json!({ "command": self.command.as_str() }),
            "file_change" => json!({ "changes": self.changes }),
            "todo_list" => json!({ "items": self.items }),
            "web_search" => json!({ "query": self.query.as_str() }),
            "mcp_tool_call" => self.arguments.clone(),
            _ if self.arguments.is_null() => json!({ "prompt": self.prompt.as_str() }),
            _ => self.arguments.clone(),
        }
    }

    /// The output of the call, and whether it failed.
    pub(super) fn output(self) -> (String, bool) {
        let failed = matches!(self.status.as_str(), "failed" | "declined");
        match self.kind.as_str() {
            "command_execution" => {
                let failed = failed || self.exit_code.0.is_some_and(|code| code != 0.0);
                (self.aggregated_output.into_string(), failed)
            }
            "file_change" => (changes(&self.changes), failed),
            _ => match self.error.0.and_then(|error| error.message.into_filled()) {
                Some(words) => (words, true),
                None => (self.result.0.map(|result| result.content.into_text()).unwrap_or_default(), failed),
            },
        }
    }
}

/// One line for each changed file: what was done, and where.
fn changes(changes: &Value) -> String {
    let text = |change: &Value, key: &str| change.get(key).and_then(Value::as_str).unwrap_or("?").to_owned();
    let lines = changes.as_array().into_iter().flatten();
    lines
        .map(|change| format!("{} {}", text(change, "kind"), text(change, "path")))
        .collect::<Vec<_>>()
        .join("\n")
}
