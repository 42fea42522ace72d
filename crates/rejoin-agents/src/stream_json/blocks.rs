//! The blocks that messages are made of, as Claude Code and Qwen Code print them.

use serde::Deserialize;
use serde_json::Value;

use crate::loose::{Flag, Object, Text, TextOr};

/// A part of a message; which fields are filled depends on its type.
#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(crate) struct Block<'a> {
    #[serde(rename = "type")]
    pub(crate) kind: Text<'a>,
    pub(crate) text: Text<'a>,
    pub(crate) thinking: Text<'a>,
    pub(crate) id: Text<'a>,
    pub(crate) name: Text<'a>,
    pub(crate) input: Value,
    pub(crate) tool_use_id: Text<'a>,
    content: TextOr<'a, Inner<'a>>,
    pub(crate) is_error: Flag,
}

impl Block<'_> {
    /// A call of a tool, of whichever kind.
    pub(crate) fn is_call(&self) -> bool {
        matches!(self.kind.as_str(), "tool_use" | "server_tool_use" | "mcp_tool_use")
    }

    /// The output of a tool as text; what is no text is named.
    pub(crate) fn output(self) -> String {
        self.content.into_text()
    }
}

/// A block that is text, or is named by its kind.
pub(crate) trait Shown {
    /// Its kind, and its text.
    fn parts(self) -> (String, String);
}

impl<T: Shown> TextOr<'_, T> {
    /// The output of a tool as text; what is no text is named.
    pub(crate) fn into_text(self) -> String {
        let shown = |block: T| match block.parts() {
            (kind, text) if kind == "text" => text,
            (kind, _) => format!("[{kind}]"),
        };
        match self {
            TextOr::Text(text) => text.into_owned(),
            TextOr::Neither => String::new(),
            TextOr::Blocks(blocks) => blocks.into_iter().map(shown).collect::<Vec<_>>().join("\n"),
        }
    }
}

/// A block inside another one.
#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(crate) struct Inner<'a> {
    #[serde(rename = "type")]
    kind: Text<'a>,
    text: Text<'a>,
}

impl Shown for Inner<'_> {
    fn parts(self) -> (String, String) {
        (self.kind.into_string(), self.text.into_string())
    }
}

impl Inner<'_> {
    pub(crate) fn is_text(&self) -> bool {
        self.kind.as_str() == "text"
    }
}

/// A step of a message that is being written.
#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(crate) struct StreamEvent<'a> {
    #[serde(rename = "type")]
    pub(crate) kind: Text<'a>,
    pub(crate) message: Object<Started<'a>>,
    pub(crate) content_block: Object<Inner<'a>>,
    pub(crate) delta: Object<Delta<'a>>,
}

impl StreamEvent<'_> {
    pub(crate) fn is_of_an_answer(&self) -> bool {
        let kind = self.kind.as_str();
        kind.starts_with("message_") || kind.starts_with("content_block_")
    }
}

/// The message that begins.
#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(crate) struct Started<'a> {
    pub(crate) id: Text<'a>,
}

/// What is added to a block.
#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(crate) struct Delta<'a> {
    #[serde(rename = "type")]
    pub(crate) kind: Text<'a>,
    pub(crate) text: Text<'a>,
    pub(crate) thinking: Text<'a>,
}
