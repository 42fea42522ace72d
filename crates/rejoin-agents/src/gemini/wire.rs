//! The lines of `--output-format stream-json`, as far as they matter here.

use rejoin_core::Usage;
use serde::Deserialize;
use serde_json::Value;

use crate::loose::{Number, Object, Text};

/// One line; which fields are filled depends on its type.
#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(super) struct Wire<'a> {
    #[serde(rename = "type")]
    pub(super) kind: Text<'a>,
    // init
    pub(super) session_id: Text<'a>,
    pub(super) model: Text<'a>,
    // message
    pub(super) role: Text<'a>,
    pub(super) content: Text<'a>,
    // tool_use
    pub(super) tool_name: Text<'a>,
    pub(super) tool_id: Text<'a>,
    pub(super) parameters: Value,
    // tool_result and result
    pub(super) status: Text<'a>,
    pub(super) output: Text<'a>,
    pub(super) error: Object<Words<'a>>,
    pub(super) stats: Object<Stats>,
    // error
    pub(super) severity: Text<'a>,
    pub(super) message: Text<'a>,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(super) struct Words<'a> {
    #[serde(rename = "type")]
    pub(super) kind: Text<'a>,
    pub(super) message: Text<'a>,
}

/// Counted tokens of the run, those of helping models included.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Stats {
    total_tokens: Number,
    input_tokens: Number,
    output_tokens: Number,
    cached: Number,
}

impl Stats {
    pub(super) fn usage(&self) -> Usage {
        usage(self.input_tokens, self.cached, self.output_tokens, self.total_tokens)
    }
}

/// What Gemini counts, as we do.
pub(super) fn usage(input: Number, cached: Number, output: Number, total: Number) -> Usage {
    let (input, cached) = (input.count(), cached.count());
    // Thinking is counted in the total alone.
    let written = total.count().saturating_sub(input);
    Usage { input: input.saturating_sub(cached), cached, output: output.count().max(written) }
}
