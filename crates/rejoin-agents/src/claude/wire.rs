//! The lines of `--output-format stream-json`, as far as they matter here.

use std::collections::BTreeMap;

use rejoin_core::Usage;
use serde::Deserialize;
use serde_json::Value;

use crate::blocks::{Block, StreamEvent};
use crate::loose::{Flag, List, Number, Object, Text, TextOr, Texts};

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
    pub(super) error: Text<'a>,
    // init
    pub(super) model: Text<'a>,
    pub(super) claude_code_version: Text<'a>,
    pub(super) tools: Texts<'a>,
    #[serde(rename = "permissionMode")]
    pub(super) permission_mode: Text<'a>,
    // api_retry
    pub(super) attempt: Number,
    pub(super) max_retries: Number,
    pub(super) error_status: Number,
    // compact_boundary
    pub(super) compact_metadata: Object<Compacted<'a>>,
    // model_fallback and the like
    pub(super) content: Text<'a>,
    // control_request
    pub(super) request_id: Text<'a>,
    pub(super) request: Object<ControlRequest<'a>>,
    // result
    pub(super) is_error: Flag,
    pub(super) api_error_status: Number,
    pub(super) num_turns: Number,
    pub(super) result: Text<'a>,
    pub(super) errors: Texts<'a>,
    pub(super) terminal_reason: Text<'a>,
    pub(super) total_cost_usd: Number,
    pub(super) usage: Object<Tokens>,
    #[serde(rename = "modelUsage")]
    pub(super) model_usage: Object<BTreeMap<String, Object<Tokens>>>,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(super) struct Message<'a> {
    pub(super) id: Text<'a>,
    pub(super) model: Text<'a>,
    pub(super) content: TextOr<'a, Block<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(super) struct Compacted<'a> {
    pub(super) trigger: Text<'a>,
    pub(super) pre_tokens: Number,
    pub(super) post_tokens: Number,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(super) struct ControlRequest<'a> {
    pub(super) subtype: Text<'a>,
    pub(super) tool_name: Text<'a>,
    pub(super) tool_use_id: Text<'a>,
    pub(super) input: Value,
}

/// Input of the tool that asks the user.
#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(super) struct Asking<'a> {
    pub(super) questions: List<Asked<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(super) struct Asked<'a> {
    pub(super) question: Text<'a>,
    #[serde(rename = "multiSelect")]
    pub(super) multi_select: Flag,
    pub(super) options: List<Offered<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(super) struct Offered<'a> {
    pub(super) label: Text<'a>,
    pub(super) description: Text<'a>,
}

/// Counted tokens, for the turn or for one model.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Tokens {
    #[serde(alias = "input_tokens", alias = "inputTokens")]
    input: Number,
    #[serde(alias = "cache_creation_input_tokens", alias = "cacheCreationInputTokens")]
    written_to_cache: Number,
    #[serde(alias = "cache_read_input_tokens", alias = "cacheReadInputTokens")]
    read_from_cache: Number,
    #[serde(alias = "output_tokens", alias = "outputTokens")]
    output: Number,
}

impl Tokens {
    fn usage(&self) -> Usage {
        Usage {
            input: self.input.count() + self.written_to_cache.count(),
            cached: self.read_from_cache.count(),
            output: self.output.count(),
        }
    }
}

impl Wire<'_> {
    /// The tokens of the turn. After a broken stream the turn's own count is all zeros, and only
    /// the count per model is right.
    pub(super) fn usage(&self) -> Usage {
        let turn = self.usage.0.as_ref().map(Tokens::usage);
        if let Some(usage) = turn.filter(|usage| !usage.is_zero()) {
            return usage;
        }
        let models = self.model_usage.0.iter().flat_map(BTreeMap::values);
        models.filter_map(|model| model.0.as_ref()).fold(Usage::default(), |mut sum, model| {
            sum += model.usage();
            sum
        })
    }

    /// The agent's words about a result: its list of errors, or its text.
    pub(super) fn words(&self) -> String {
        let errors: Vec<&str> = self.errors.0.iter().filter_map(Text::filled).collect();
        if errors.is_empty() { self.result.as_str().to_owned() } else { errors.join("\n") }
    }
}
