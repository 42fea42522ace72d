//! The lines of `--output-format stream-json`, as far as they matter here.

use std::collections::BTreeMap;

use rejoin_core::Usage;
use serde::Deserialize;
use serde_json::Value;

use super::blocks::{Block, StreamEvent};
use crate::loose::{Flag, List, Number, Object, Text, TextOr, Texts};

/// One line; which fields are filled depends on its type.
#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(crate) struct Wire<'a> {
    #[serde(rename = "type")]
    pub(crate) kind: Text<'a>,
    pub(crate) subtype: Text<'a>,
    pub(crate) session_id: Text<'a>,
    pub(crate) parent_tool_use_id: Text<'a>,
    pub(crate) message: Object<Message<'a>>,
    pub(crate) event: Object<StreamEvent<'a>>,
    /// Of Claude a word, of Qwen an object.
    pub(crate) error: TextOr<'a, Words<'a>>,
    // init
    pub(crate) model: Text<'a>,
    pub(super) claude_code_version: Text<'a>,
    pub(super) qwen_code_version: Text<'a>,
    pub(super) tools: Texts<'a>,
    /// Of Claude, and the same of Qwen.
    #[serde(rename = "permissionMode")]
    pub(super) mode: Text<'a>,
    pub(super) permission_mode: Text<'a>,
    // other system lines of Qwen
    pub(crate) data: Object<Data<'a>>,
    // api_retry
    pub(crate) attempt: Number,
    pub(crate) max_retries: Number,
    pub(crate) error_status: Number,
    // compact_boundary
    pub(crate) compact_metadata: Object<Compacted<'a>>,
    // model_fallback and the like
    pub(crate) content: Text<'a>,
    // control_request
    pub(crate) request_id: Text<'a>,
    pub(crate) request: Object<ControlRequest<'a>>,
    // result
    pub(crate) is_error: Flag,
    pub(crate) duration_ms: Number,
    pub(crate) api_error_status: Number,
    pub(crate) num_turns: Number,
    pub(crate) result: Text<'a>,
    pub(crate) errors: Texts<'a>,
    pub(crate) terminal_reason: Text<'a>,
    pub(crate) total_cost_usd: Number,
    pub(crate) usage: Object<Tokens>,
    #[serde(rename = "modelUsage")]
    pub(crate) model_usage: Object<BTreeMap<String, Object<Tokens>>>,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(crate) struct Message<'a> {
    pub(crate) id: Text<'a>,
    pub(crate) model: Text<'a>,
    pub(crate) content: TextOr<'a, Block<'a>>,
    pub(crate) usage: Object<Tokens>,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(crate) struct Words<'a> {
    pub(crate) message: Text<'a>,
}

/// What a system line of Qwen tells.
#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(crate) struct Data<'a> {
    pub(crate) reason: Text<'a>,
    pub(crate) attempt: Number,
    #[serde(rename = "maxRetries")]
    pub(crate) max_retries: Number,
    #[serde(rename = "preserveText")]
    pub(crate) preserve_text: Flag,
    pub(crate) notice: Text<'a>,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(crate) struct Compacted<'a> {
    pub(crate) trigger: Text<'a>,
    pub(crate) pre_tokens: Number,
    pub(crate) post_tokens: Number,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(crate) struct ControlRequest<'a> {
    pub(crate) subtype: Text<'a>,
    pub(crate) tool_name: Text<'a>,
    pub(crate) tool_use_id: Text<'a>,
    pub(crate) input: Value,
}

/// Input of the tool that asks the user.
#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(crate) struct Asking<'a> {
    pub(crate) questions: List<Asked<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(crate) struct Asked<'a> {
    pub(crate) question: Text<'a>,
    #[serde(rename = "multiSelect")]
    pub(crate) multi_select: Flag,
    pub(crate) options: List<Offered<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(crate) struct Offered<'a> {
    pub(crate) label: Text<'a>,
    pub(crate) description: Text<'a>,
}

/// Counted tokens, for an answer, a turn, a session or one model.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct Tokens {
    #[serde(alias = "input_tokens", alias = "inputTokens")]
    pub(crate) input: Number,
    #[serde(alias = "cache_creation_input_tokens", alias = "cacheCreationInputTokens")]
    written_to_cache: Number,
    #[serde(alias = "cache_read_input_tokens", alias = "cacheReadInputTokens")]
    pub(crate) read_from_cache: Number,
    #[serde(alias = "output_tokens", alias = "outputTokens")]
    pub(crate) output: Number,
    #[serde(alias = "total_tokens")]
    pub(crate) total: Number,
}

impl Tokens {
    /// As Claude counts them.
    pub(crate) fn usage(&self) -> Usage {
        Usage {
            input: self.input.count().saturating_add(self.written_to_cache.count()),
            cached: self.read_from_cache.count(),
            output: self.output.count(),
        }
    }

    pub(super) fn is_zero(&self) -> bool {
        self.usage().is_zero() && self.total.count() == 0
    }
}

impl Wire<'_> {
    /// The tokens of the turn, as Claude counts them. After a broken stream the turn's own count is all zeros,
    /// and only the count per model is right (2.1.197).
    pub(crate) fn usage(&self) -> Usage {
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

    /// What an error object says.
    pub(crate) fn error_message(&self) -> Option<&str> {
        match &self.error {
            TextOr::Blocks(errors) => errors.first()?.message.filled(),
            _ => None,
        }
    }

    /// The agent's words about a result: its list of errors, or its text.
    pub(crate) fn words(&self) -> String {
        let errors: Vec<&str> = self.errors.0.iter().filter_map(Text::filled).collect();
        if errors.is_empty() { self.result.as_str().to_owned() } else { errors.join("\n") }
    }
}
