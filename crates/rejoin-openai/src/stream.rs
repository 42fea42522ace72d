//! The answer as a stream of server-sent events, or in one piece.

use std::io::{BufRead, BufReader, Read};

use serde::Deserialize;

use crate::events::Events;
use crate::failure::{Again, Failure};

/// No event of a chat is longer.
const LONGEST_EVENT: u64 = 8 << 20;

#[derive(Deserialize)]
struct Chunk {
    #[serde(default)]
    choices: Vec<Choice>,
    #[serde(default)]
    usage: Option<Usage>,
    #[serde(default)]
    error: Option<serde_json::Value>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    delta: Option<Said>,
    #[serde(default)]
    message: Option<Said>,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Said {
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    reasoning_content: Option<String>,
}

#[derive(Deserialize)]
struct Usage {
    #[serde(default)]
    prompt_tokens: u64,
    #[serde(default)]
    completion_tokens: u64,
    #[serde(default)]
    prompt_tokens_details: Option<Details>,
}

#[derive(Deserialize)]
struct Details {
    #[serde(default)]
    cached_tokens: u64,
}

/// Reads an answer to its end and tells it. An answer that breaks off is a failure, and is not
/// asked for again once something of it was told.
pub(crate) fn read(source: impl Read, model: &str, events: &Events) -> Result<(), Failure> {
    let mut source = BufReader::new(source);
    let mut answer = String::new();
    let mut finished = false;
    let mut line = Vec::new();
    loop {
        line.clear();
        let count = source.by_ref().take(LONGEST_EVENT).read_until(b'\n', &mut line);
        match count {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) => return Err(broken(&answer, &error.to_string())),
        }
        let text = String::from_utf8_lossy(&line);
        // An endpoint that does not stream answers with one object.
        let data = match text.trim().strip_prefix("data:") {
            Some(data) => data.trim(),
            None if text.trim_start().starts_with('{') => text.trim(),
            None => continue,
        };
        if data == "[DONE]" {
            finished = true;
            break;
        }
        let Ok(chunk) = serde_json::from_str::<Chunk>(data) else { continue };
        if let Some(error) = chunk.error {
            return Err(Failure::status(500, &error.to_string(), None, None).final_after(&answer));
        }
        for choice in chunk.choices {
            finished |= choice.finish_reason.is_some();
            if let Some(said) = choice.delta.or(choice.message) {
                if let Some(thought) = said.reasoning_content.filter(|thought| !thought.is_empty()) {
                    events.thinking(&thought);
                }
                if let Some(text) = said.content.filter(|text| !text.is_empty()) {
                    events.delta(&text);
                    answer.push_str(&text);
                }
            }
        }
        if let Some(usage) = chunk.usage {
            let cached = usage.prompt_tokens_details.map_or(0, |details| details.cached_tokens);
            events.usage(usage.prompt_tokens.saturating_sub(cached), cached, usage.completion_tokens);
        }
    }
    if !finished {
        return Err(broken(&answer, "the stream ended before the answer did"));
    }
    events.message(&answer, model);
    Ok(())
}

fn broken(answer: &str, words: &str) -> Failure {
    Failure::network(&words).final_after(answer)
}

impl Failure {
    /// Once something was told, asking again would tell it twice.
    fn final_after(mut self, answer: &str) -> Self {
        if !answer.is_empty() {
            self.again = Again::Never;
        }
        self
    }
}
