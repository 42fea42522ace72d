//! The lines of `pi --mode json`, as far as they matter here.

use rejoin_core::Usage;
use serde::Deserialize;
use serde_json::Value;

use crate::loose::{Flag, Number, Object, Text, TextOr};
use crate::stream_json::blocks::Shown;

/// One line; which fields are filled depends on its type.
#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), rename_all = "camelCase", default)]
pub(super) struct Wire<'a> {
    #[serde(rename = "type")]
    pub(super) kind: Text<'a>,
    /// Of a session.
    pub(super) id: Text<'a>,
    pub(super) message: Object<Message<'a>>,
    #[serde(rename = "assistantMessageEvent")]
    pub(super) update: Object<Update<'a>>,
    /// Of a call.
    pub(super) tool_call_id: Text<'a>,
    pub(super) tool_name: Text<'a>,
    pub(super) args: Value,
    /// Of a call or a compaction.
    pub(super) result: Object<Output<'a>>,
    pub(super) is_error: Flag,
    /// Of a retry.
    pub(super) attempt: Number,
    pub(super) max_attempts: Number,
    pub(super) success: Flag,
    pub(super) final_error: Text<'a>,
    pub(super) error_message: Text<'a>,
    /// Of a compaction.
    pub(super) reason: Text<'a>,
    /// Of the end of a run: there only if Pi will say when it has settled.
    pub(super) will_retry: Flag,
    /// Of an extension.
    pub(super) error: Text<'a>,
}

/// How the lines begin that tell of a message growing. Each repeats the message twice (0.74.2).
const GROWING: &str = r#"{"type":"message_update","#;

/// Such a line, without the repetitions.
#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
struct Growing<'a> {
    #[serde(rename = "type")]
    kind: Text<'a>,
    #[serde(rename = "assistantMessageEvent")]
    update: Object<Update<'a>>,
}

impl<'a> Wire<'a> {
    pub(super) fn read(text: &'a str) -> Option<Self> {
        if !text.starts_with(GROWING) {
            return serde_json::from_str(text).ok();
        }
        let Growing { kind, update } = serde_json::from_str(text).ok()?;
        Some(Self { kind, update, ..Self::default() })
    }
}

/// What was added to a message.
#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(super) struct Update<'a> {
    #[serde(rename = "type")]
    pub(super) kind: Text<'a>,
    pub(super) delta: Text<'a>,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), rename_all = "camelCase", default)]
pub(super) struct Message<'a> {
    pub(super) role: Text<'a>,
    pub(super) content: TextOr<'a, Block<'a>>,
    pub(super) model: Text<'a>,
    pub(super) response_id: Text<'a>,
    pub(super) usage: Object<Tokens>,
    pub(super) stop_reason: Text<'a>,
    #[serde(rename = "errorMessage")]
    pub(super) error: Text<'a>,
    /// Of the result of a call.
    pub(super) tool_call_id: Text<'a>,
    pub(super) is_error: Flag,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(super) struct Block<'a> {
    #[serde(rename = "type")]
    pub(super) kind: Text<'a>,
    pub(super) text: Text<'a>,
    pub(super) thinking: Text<'a>,
    pub(super) id: Text<'a>,
    pub(super) name: Text<'a>,
    pub(super) arguments: Value,
    /// Of an image.
    #[serde(rename = "mimeType")]
    pub(super) media: Text<'a>,
}

/// What a call gave back, or a compaction came to.
#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), rename_all = "camelCase", default)]
pub(super) struct Output<'a> {
    pub(super) content: TextOr<'a, Block<'a>>,
    pub(super) tokens_before: Number,
}

/// Counted tokens of one message; none is counted twice.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Tokens {
    input: Number,
    output: Number,
    cache_read: Number,
    cache_write: Number,
    cost: Object<Cost>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Cost {
    total: Number,
}

impl Tokens {
    /// In US dollars.
    pub(super) fn cost(&self) -> f64 {
        self.cost.0.as_ref().and_then(|cost| cost.total.0).unwrap_or(0.0).max(0.0)
    }

    pub(super) fn usage(&self) -> Usage {
        let input = self.input.count().saturating_add(self.cache_write.count());
        Usage { input, cached: self.cache_read.count(), output: self.output.count() }
    }
}

impl Shown for Block<'_> {
    fn parts(self) -> (String, String) {
        (self.kind.into_string(), self.text.into_string())
    }
}
