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
    pub(crate) fn is_call(&self) -> bool {
        self.kind.as_str() == "tool_use"
    }

    /// The output of a tool as text; what is no text is named.
    pub(crate) fn output(self) -> String {
        match self.content {
            TextOr::Text(text) => text.into_owned(),
            TextOr::Neither => String::new(),
            TextOr::Blocks(blocks) => {
                let texts = blocks.into_iter().map(|block| match block.kind.as_str() {
                    "text" => block.text.into_string(),
                    kind => format!("[{kind}]"),
                });
                texts.collect::<Vec<_>>().join("\n")
            }
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
