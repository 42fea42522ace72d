//! The lines of `opencode run --format json`, as far as they matter here.

use rejoin_core::Usage;
use serde::Deserialize;
use serde_json::Value;

use crate::loose::{Flag, List, Number, Object, Text};

/// One line; which fields are filled depends on its type.
#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(super) struct Wire<'a> {
    #[serde(rename = "type")]
    pub(super) kind: Text<'a>,
    #[serde(rename = "sessionID")]
    pub(super) session: Text<'a>,
    pub(super) part: Object<Part<'a>>,
    pub(super) error: Object<Trouble<'a>>,
}

/// A part of a message.
#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(super) struct Part<'a> {
    pub(super) id: Text<'a>,
    #[serde(rename = "messageID")]
    pub(super) message: Text<'a>,
    pub(super) text: Text<'a>,
    /// Words OpenCode put into the user's mouth.
    pub(super) synthetic: Flag,
    metadata: Object<Metadata>,
    tool: Text<'a>,
    #[serde(rename = "callID")]
    call: Text<'a>,
    state: Object<State<'a>>,
    pub(super) reason: Text<'a>,
    tokens: Object<Tokens>,
    pub(super) cost: Number,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Metadata {
    compaction_continue: Flag,
    exit: Number,
}

/// How far a call has come; only finished ones are printed.
#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
struct State<'a> {
    status: Text<'a>,
    input: Value,
    output: Text<'a>,
    error: Text<'a>,
    metadata: Object<Metadata>,
    attachments: List<Attachment<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
struct Attachment<'a> {
    mime: Text<'a>,
}

/// Counted tokens.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Tokens {
    input: Number,
    output: Number,
    reasoning: Number,
    cache: Object<Cache>,
}

#[derive(Clone, Copy, Deserialize, Default)]
#[serde(default)]
struct Cache {
    read: Number,
    write: Number,
}

/// A failure as OpenCode stores it.
#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(super) struct Trouble<'a> {
    #[serde(alias = "_tag")]
    pub(super) name: Text<'a>,
    message: Text<'a>,
    pub(super) data: Object<Details<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(super) struct Details<'a> {
    message: Text<'a>,
    #[serde(rename = "statusCode")]
    pub(super) status: Number,
    #[serde(rename = "responseBody")]
    pub(super) body: Text<'a>,
}

/// A call that is over.
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) input: Value,
    pub(super) output: String,
    pub(super) failed: bool,
}

impl Part<'_> {
    /// OpenCode shortened its memory and goes on by itself.
    pub(super) fn goes_on_after_compaction(&self) -> bool {
        self.metadata.0.as_ref().is_some_and(|metadata| metadata.compaction_continue.is_set())
    }

    /// The tokens of a step.
    pub(super) fn usage(&self) -> Option<Usage> {
        Some(self.tokens.0.as_ref()?.usage())
    }

    /// Whether it is a call that is over.
    pub(super) fn is_over(&self) -> bool {
        let state = self.state.0.as_ref();
        state.is_some_and(|state| matches!(state.status.as_str(), "completed" | "error"))
    }

    /// The finished call this part is.
    pub(super) fn into_call(self) -> Option<Call> {
        let state = self.state.0?;
        let failed = state.status.as_str() == "error";
        let exit = state.metadata.0.and_then(|metadata| metadata.exit.0);
        // A call of a tool that is not offered becomes one of the tool "invalid" (1.18.33).
        let invalid = self.tool.as_str() == "invalid";
        let meant = state.input.get("tool").and_then(Value::as_str).filter(|_| invalid);
        let name = meant.unwrap_or(self.tool.as_str()).to_owned();
        let mut output = if failed { state.error.into_string() } else { state.output.into_string() };
        for attachment in state.attachments.0 {
            output.push_str("\n[");
            output.push_str(attachment.mime.filled().unwrap_or("attachment"));
            output.push(']');
        }
        Some(Call {
            // Its own id of the call is one of the provider, which may count anew in every turn.
            id: self.id.into_filled().unwrap_or_else(|| self.call.into_string()),
            name,
            input: state.input,
            output,
            failed: failed || invalid || exit.is_some_and(|exit| exit != 0.0),
        })
    }
}

impl Tokens {
    /// Those written to a cache were not served from one.
    pub(super) fn usage(&self) -> Usage {
        let cache = self.cache.0.unwrap_or_default();
        Usage {
            input: self.input.count().saturating_add(cache.write.count()),
            cached: cache.read.count(),
            output: self.output.count().saturating_add(self.reasoning.count()),
        }
    }
}

impl Trouble<'_> {
    /// What it says.
    pub(super) fn words(&self) -> &str {
        let said = self.data.0.as_ref().and_then(|data| data.message.filled());
        said.or(self.message.filled()).unwrap_or(self.name.filled().unwrap_or("an error without words"))
    }
}
