//! The lines of `--output-format stream-json`, as far as they matter here.

use rejoin_core::Usage;
use serde::Deserialize;

use crate::blocks::{Block, StreamEvent};
use crate::loose::{Flag, Number, Object, Text, TextOr, Texts};

/// One line; which fields are filled depends on its type.
#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(super) struct Wire<'a> {
    #[serde(rename = "type")]
    pub(super) kind: Text<'a>,
    pub(super) subtype: Text<'a>,
    pub(super) session_id: Text<'a>,
    pub(super) parent_tool_use_id: Text<'a>,
    pub(super) message: Object<Message<'a>>,
    pub(super) event: Object<StreamEvent<'a>>,
    // init
    pub(super) model: Text<'a>,
    pub(super) qwen_code_version: Text<'a>,
    pub(super) tools: Texts<'a>,
    pub(super) permission_mode: Text<'a>,
    // other system lines
    pub(super) data: Object<Data<'a>>,
    // result
    pub(super) is_error: Flag,
    pub(super) duration_ms: Number,
    pub(super) result: Text<'a>,
    pub(super) error: Object<Failure<'a>>,
    pub(super) usage: Object<Tokens>,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(super) struct Message<'a> {
    pub(super) id: Text<'a>,
    pub(super) model: Text<'a>,
    pub(super) content: TextOr<'a, Block<'a>>,
    pub(super) usage: Object<Tokens>,
}

/// What a system line tells.
#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(super) struct Data<'a> {
    pub(super) reason: Text<'a>,
    pub(super) attempt: Number,
    #[serde(rename = "maxRetries")]
    pub(super) max_retries: Number,
    #[serde(rename = "preserveText")]
    pub(super) preserve_text: Flag,
    pub(super) notice: Text<'a>,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(super) struct Failure<'a> {
    pub(super) message: Text<'a>,
}

/// Counted tokens, of one answer or of the whole session.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Tokens {
    #[serde(rename = "input_tokens")]
    input: Number,
    #[serde(rename = "cache_read_input_tokens")]
    cached: Number,
    #[serde(rename = "output_tokens")]
    output: Number,
    #[serde(rename = "total_tokens")]
    total: Number,
}

impl From<&Tokens> for Usage {
    fn from(tokens: &Tokens) -> Usage {
        counted(tokens.input.count(), tokens.cached.count(), tokens.output.count(), tokens.total.count())
    }
}

/// Qwen counts what came from the cache as input too, and thinking only in the total.
pub(super) fn counted(input: u64, cached: u64, output: u64, total: u64) -> Usage {
    let output = output.max(total.saturating_sub(input));
    Usage { input: input.saturating_sub(cached), cached, output }
}
