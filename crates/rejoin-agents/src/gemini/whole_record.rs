//! The records of a session's file with all that is in them.

use serde::Deserialize;
use serde_json::Value;

use super::typed::HasText;
use crate::loose::{Flag, List, Number, Object, Text, TextOr, Texts};

/// One line of the log, or the whole of an older file. Of a line that is a message, the rest is a [`WholeMessage`].
#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(super) struct WholeRecord<'a> {
    #[serde(rename = "sessionId")]
    pub(super) session: Text<'a>,
    pub(super) kind: Text<'a>,
    pub(super) summary: Text<'a>,
    pub(super) directories: Texts<'a>,
    pub(super) messages: Option<List<WholeMessage<'a>>>,
    #[serde(rename = "$set")]
    pub(super) set: Object<WholeSet<'a>>,
    #[serde(rename = "$rewindTo")]
    pub(super) rewind_to: Text<'a>,
    pub(super) id: Text<'a>,
    #[serde(rename = "type")]
    pub(super) role: Text<'a>,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(super) struct WholeSet<'a> {
    #[serde(rename = "sessionId")]
    pub(super) session: Text<'a>,
    pub(super) summary: Text<'a>,
    pub(super) messages: Option<List<WholeMessage<'a>>>,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(super) struct WholeMessage<'a> {
    pub(super) id: Text<'a>,
    pub(super) timestamp: Text<'a>,
    #[serde(rename = "type")]
    pub(super) role: Text<'a>,
    pub(super) content: TextOr<'a, WholePart<'a>>,
    #[serde(rename = "displayContent")]
    pub(super) display: TextOr<'a, WholePart<'a>>,
    #[serde(rename = "toolCalls")]
    pub(super) calls: List<ToolCall<'a>>,
    pub(super) thoughts: List<Thought<'a>>,
    pub(super) tokens: Object<Tokens>,
    pub(super) model: Text<'a>,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), rename_all = "camelCase", default)]
pub(super) struct WholePart<'a> {
    pub(super) text: Text<'a>,
    pub(super) thought: Flag,
    pub(super) function_call: Object<FunctionCall<'a>>,
    pub(super) function_response: Object<FunctionResponse<'a>>,
    pub(super) inline_data: Object<Data<'a>>,
    pub(super) file_data: Object<Data<'a>>,
}

impl HasText for WholePart<'_> {
    fn text(&self) -> &str {
        self.text.as_str()
    }
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(super) struct FunctionCall<'a> {
    pub(super) id: Text<'a>,
    pub(super) name: Text<'a>,
    pub(super) args: Value,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(super) struct FunctionResponse<'a> {
    pub(super) id: Text<'a>,
    pub(super) response: Value,
}

/// What was sent beside the words.
#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), rename_all = "camelCase", default)]
pub(super) struct Data<'a> {
    pub(super) mime_type: Text<'a>,
    pub(super) display_name: Text<'a>,
    pub(super) file_uri: Text<'a>,
}

/// A call, written when it has ended.
#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), rename_all = "camelCase", default)]
pub(super) struct ToolCall<'a> {
    pub(super) id: Text<'a>,
    pub(super) name: Text<'a>,
    pub(super) args: Value,
    pub(super) status: Text<'a>,
    pub(super) result: TextOr<'a, WholePart<'a>>,
    pub(super) result_display: Text<'a>,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(super) struct Thought<'a> {
    pub(super) subject: Text<'a>,
    pub(super) description: Text<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Tokens {
    pub(super) input: Number,
    pub(super) output: Number,
    pub(super) cached: Number,
    pub(super) total: Number,
}
