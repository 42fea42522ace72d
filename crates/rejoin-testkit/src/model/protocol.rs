//! What a wire protocol must provide; everything else is shared.

use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use super::cache::Tokens;
use super::http::Events;
use super::script::{Failure, Manner, ToolCall};
use super::tools::Tool;
use super::{anthropic, chat, gemini, responses};

/// Every protocol the scripted model speaks.
pub(super) fn all() -> [&'static dyn Protocol; 4] {
    [&anthropic::Messages, &responses::Responses, &gemini::Gemini, &chat::Chat]
}

/// One wire protocol.
pub(super) trait Protocol: Sync {
    /// Its name in the log.
    fn name(&self) -> &'static str;

    /// Whether a POST to this path asks for an answer.
    fn serves(&self, path: &str) -> bool;

    /// The answer to a POST that asks for something other than an answer (a token count).
    fn aside(&self, _path: &str, _body: &Value) -> Option<Value> {
        None
    }

    /// What the request says, in the shared terms.
    fn read(&self, path: &str, body: &Value) -> Conversation;

    /// The answer that calls a tool, if the agent offers one that fits.
    fn call(&self, call: &ToolCall, offered: &[Tool]) -> Option<Vec<Part>>;

    /// Status and body of a failure.
    fn fail(&self, failure: Failure) -> (u16, Value);

    /// After how many seconds a failed client is told to try again.
    fn retry_after(&self, failure: Failure) -> Option<u32> {
        (failure == Failure::RateLimited).then_some(1)
    }

    /// Headers of a failure.
    fn headers(&self, _failure: Failure) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// The answer as one document.
    fn whole(&self, answer: &Answer) -> Value;

    /// Whether its events come in chunks, so that a client can tell a cut connection from an end. The others end
    /// with an event of their own.
    fn chunked(&self) -> bool {
        false
    }

    /// The answer as events.
    fn stream(&self, answer: &Answer, events: &mut Events<'_>) -> io::Result<()>;
}

/// When a limit resets: in two hours, by the clock in whole minutes, in seconds since 1970.
pub(super) fn resets_at() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    (now + 2 * 3600) / 60 * 60
}

/// A request in shared terms.
#[derive(Default)]
pub(super) struct Conversation {
    pub(super) model: String,
    pub(super) streaming: bool,
    /// The messages or items as sent, without the system prompt.
    pub(super) items: Vec<Value>,
    /// The text of every user message.
    pub(super) users: Vec<String>,
    /// The newest prompt, empty while tool results are being answered.
    pub(super) prompt: String,
    /// What a tool answered since the newest prompt, as it should be quoted.
    pub(super) tool_result: Option<String>,
    /// The tools the agent offers.
    pub(super) offered: Vec<Tool>,
    /// An answer given whatever the script says: the agent asked on its own behalf (a title).
    pub(super) errand: Option<Part>,
    /// The client did not ask for usage in a stream, and a provider would not tell.
    pub(super) without_usage: bool,
}

/// What the model answers.
pub(super) struct Answer {
    pub(super) model: String,
    pub(super) parts: Vec<Part>,
    pub(super) manner: Manner,
    pub(super) tokens: Tokens,
    /// See [`Conversation::without_usage`].
    pub(super) without_usage: bool,
}

/// A piece of an answer.
#[derive(Debug, Clone)]
pub(super) enum Part {
    Text(String),
    Call { tool: String, input: Value },
}

impl Part {
    /// Its size on the wire, near enough for token counts.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Call { tool, input } => tool.len() + input.to_string().len(),
        }
    }
}

/// Whether an answer goes on after a text was delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spoken {
    ToTheEnd,
    /// Send the protocol's error event, then close the connection.
    Failed,
    /// Close the connection.
    Cut,
}

impl Answer {
    /// Whether it wants a tool to be run.
    pub(super) fn calls_a_tool(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Call { .. }))
    }

    /// The silence of an answer that has begun and does not go on. `true`: it hung, say nothing more.
    pub(super) fn hangs(&self, events: &Events<'_>) -> io::Result<bool> {
        if self.manner != Manner::Hang {
            return Ok(false);
        }
        events.pause(Duration::from_mins(1))?;
        Ok(true)
    }

    /// Delivers a text in the answer's manner, piece by piece.
    pub(super) fn speak(
        &self,
        text: &str,
        events: &mut Events<'_>,
        mut piece: impl FnMut(&mut Events<'_>, &str) -> io::Result<()>,
    ) -> io::Result<Spoken> {
        match self.manner {
            Manner::FailMidway | Manner::Cut => {
                for k in 0..3 {
                    piece(events, &format!("w{k} "))?;
                }
                return Ok(if self.manner == Manner::Cut { Spoken::Cut } else { Spoken::Failed });
            }
            Manner::Slow => {
                for k in 0..100 {
                    piece(events, &format!("w{k} "))?;
                    events.pause(Duration::from_millis(100))?;
                }
            }
            Manner::Plain | Manner::Hang => {}
        }
        piece(events, text)?;
        Ok(Spoken::ToTheEnd)
    }
}

/// An id as providers make them: a prefix and twenty random characters.
pub(super) fn fresh_id(prefix: &str) -> String {
    let random = uuid::Uuid::new_v4().simple().to_string();
    format!("{prefix}_{}", &random[..20])
}

/// The texts in a message's content: a string, or blocks with `text`, or tool results holding either.
pub(super) fn texts(content: &Value) -> Vec<String> {
    match content {
        Value::String(text) => vec![text.clone()],
        Value::Array(blocks) => blocks.iter().flat_map(block_texts).collect(),
        _ => Vec::new(),
    }
}

fn block_texts(block: &Value) -> Vec<String> {
    if let Some(text) = block.as_str().or_else(|| block["text"].as_str()) {
        vec![text.to_owned()]
    } else if block["type"] == "tool_result" {
        texts(&block["content"])
    } else {
        Vec::new()
    }
}
