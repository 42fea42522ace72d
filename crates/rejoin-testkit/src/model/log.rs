//! What the scripted model was asked.

use std::collections::BTreeMap;

use serde_json::Value;

use super::cache::Tokens;
use super::files::{File, files_in};

/// One request as the model got it.
#[derive(Debug, Clone)]
pub struct Request {
    /// 1 for the first request after the start or the last `clear()`.
    pub seq: usize,
    /// The HTTP method.
    pub method: String,
    /// The path without its query.
    pub path: String,
    /// The headers that say something about the agent; never a key.
    pub headers: BTreeMap<String, String>,
    /// The body, `Null` when there was none.
    pub body: Value,
    /// The model that was asked for; empty where that is not told.
    pub model: String,
    /// Every distinct mark in the conversation, in order.
    pub marks: Vec<String>,
    /// The text of every user message of the conversation, in order.
    pub user_messages: Vec<String>,
    /// `anthropic`, `responses`, `gemini` or `chat` when an answer of the model was asked for on a user's behalf.
    pub protocol: Option<&'static str>,
    /// What was done about it: the text answered, the tool called, or the failure.
    pub verdict: String,
    /// What it was told to have cost; nothing for a failure.
    pub tokens: Tokens,
}

impl Request {
    /// Whether the model was asked to answer a user (and not for a title, a token count, a list of models).
    pub fn is_call(&self) -> bool {
        self.protocol.is_some()
    }

    /// The files in the conversation, in the order in which they stand there.
    pub fn files(&self) -> Vec<File> {
        let mut found = Vec::new();
        files_in(&self.body, &mut found);
        found
    }
}

/// Headers worth keeping: no secrets, nothing that only describes the transport.
pub(super) fn telling_headers(headers: &[(String, String)]) -> BTreeMap<String, String> {
    const LEFT_OUT: [&str; 8] = [
        "host",
        "connection",
        "content-length",
        "transfer-encoding",
        "accept-encoding",
        "accept",
        "content-type",
        "cookie",
    ];
    const SECRET: [&str; 3] = ["authorization", "x-api-key", "x-goog-api-key"];
    headers
        .iter()
        .filter(|(name, _)| !LEFT_OUT.contains(&name.as_str()))
        .map(|(name, value)| {
            let value = if SECRET.contains(&name.as_str()) {
                format!("<{} bytes>", value.len())
            } else {
                value.clone()
            };
            (name.clone(), value)
        })
        .collect()
}
