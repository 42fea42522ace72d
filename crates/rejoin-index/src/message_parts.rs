//! The parts of a message as they stand in a line, read without copying what need not be copied.

use std::borrow::Cow;
use std::fmt;

use rejoin_core::{Content, Kind, MessageId, Part};
use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// A line of a journal that carries text.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Line<M> {
    pub(crate) uuid: MessageId,
    #[serde(rename = "type")]
    pub(crate) kind: Kind,
    #[serde(default)]
    pub(crate) replaces: Option<usize>,
    #[serde(default = "Option::default")]
    pub(crate) message: Option<M>,
}

/// One part of a message.
pub(crate) enum MessagePart<'a> {
    Text {
        text: Cow<'a, str>,
        thought: bool,
    },
    /// The name of the tool and what it was given: values only, the names of the arguments are the
    /// same in every call.
    Call(String),
    Result(Cow<'a, str>),
    /// The name of a file that went along.
    Attachment(Cow<'a, str>),
    Other,
}

/// Reads a line.
pub(crate) fn read(json: &str) -> Option<Line<Vec<MessagePart<'_>>>> {
    if let Ok(line) = serde_json::from_str::<Line<Loose<'_>>>(json) {
        return Some(line.with(|message| message.parts.into_iter().map(MessagePart::from).collect()));
    }
    // A shape that is not the usual one is left to the slower reader that takes everything.
    let line = serde_json::from_str::<Line<Content>>(json).ok()?;
    Some(line.with(|message| message.parts.into_iter().map(MessagePart::from).collect()))
}

/// What is said in a line.
pub(crate) fn text(json: &str) -> String {
    let parts = read(json).and_then(|line| line.message).unwrap_or_default();
    let texts = parts.into_iter().filter_map(|part| match part {
        MessagePart::Text { text, thought: false } => Some(text),
        _ => None,
    });
    texts.collect()
}

impl<M> Line<M> {
    fn with<N>(self, convert: impl FnOnce(M) -> N) -> Line<N> {
        let Line { uuid, kind, replaces, message } = self;
        Line { uuid, kind, replaces, message: message.map(convert) }
    }
}

#[derive(Deserialize)]
struct Loose<'a> {
    #[serde(borrow)]
    parts: Vec<LoosePart<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LoosePart<'a> {
    #[serde(borrow, default)]
    text: Option<BorrowedText<'a>>,
    #[serde(default)]
    thought: bool,
    #[serde(borrow, default)]
    function_call: Option<LooseCall<'a>>,
    #[serde(borrow, default)]
    function_response: Option<LooseResponse<'a>>,
    #[serde(borrow, default)]
    attachment: Option<LooseAttachment<'a>>,
}

#[derive(Deserialize)]
struct LooseCall<'a> {
    #[serde(borrow)]
    name: BorrowedText<'a>,
    #[serde(borrow)]
    args: &'a RawValue,
}

#[derive(Deserialize)]
struct LooseResponse<'a> {
    #[serde(borrow)]
    response: LooseOutput<'a>,
}

#[derive(Deserialize)]
struct LooseAttachment<'a> {
    #[serde(borrow)]
    name: BorrowedText<'a>,
}

#[derive(Deserialize)]
struct LooseOutput<'a> {
    #[serde(borrow)]
    output: BorrowedText<'a>,
}

impl<'a> From<LoosePart<'a>> for MessagePart<'a> {
    fn from(part: LoosePart<'a>) -> Self {
        match part {
            LoosePart { text: Some(text), thought, .. } => MessagePart::Text { text: text.0, thought },
            LoosePart { function_call: Some(call), .. } => {
                let args = serde_json::from_str(call.args.get()).unwrap_or_default();
                MessagePart::call(&call.name.0, &args)
            }
            LoosePart { function_response: Some(given), .. } => MessagePart::Result(given.response.output.0),
            LoosePart { attachment: Some(file), .. } => MessagePart::Attachment(file.name.0),
            LoosePart { .. } => MessagePart::Other,
        }
    }
}

impl From<Part> for MessagePart<'static> {
    fn from(part: Part) -> Self {
        match part {
            Part::Text { text, thought } => MessagePart::Text { text: text.into(), thought },
            Part::Call { function_call: call } => MessagePart::call(&call.name, &call.args),
            Part::Response { function_response: given } => MessagePart::Result(given.response.output.into()),
            Part::Attachment { attachment } => MessagePart::Attachment(attachment.name.into()),
            Part::Other(_) => MessagePart::Other,
        }
    }
}

impl MessagePart<'_> {
    fn call(name: &str, args: &Value) -> Self {
        let mut text = name.to_owned();
        values(args, &mut text);
        MessagePart::Call(text)
    }
}

fn values(value: &Value, out: &mut String) {
    match value {
        Value::Null | Value::Bool(_) => {}
        Value::Number(number) => {
            out.push(' ');
            out.push_str(&number.to_string());
        }
        Value::String(text) => {
            out.push(' ');
            out.push_str(text);
        }
        Value::Array(list) => list.iter().for_each(|value| values(value, out)),
        Value::Object(fields) => fields.values().for_each(|value| values(value, out)),
    }
}

/// A text that is borrowed from the line where it stands there without escapes.
struct BorrowedText<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for BorrowedText<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Texts;
        impl<'de> Visitor<'de> for Texts {
            type Value = BorrowedText<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }
            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(BorrowedText(Cow::Borrowed(text)))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(BorrowedText(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Texts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "10000000-0000-4000-8000-000000000001";

    fn shown(parts: &str) -> Vec<String> {
        let json =
            format!(r#"{{"uuid":"{ID}","type":"assistant","message":{{"role":"model","parts":{parts}}}}}"#);
        let parts = read(&json).unwrap().message.unwrap();
        let show = |part: &MessagePart<'_>| match part {
            MessagePart::Text { text, thought } => format!("text {thought} {text}"),
            MessagePart::Call(text) => format!("call {text}"),
            MessagePart::Result(text) => format!("result {text}"),
            MessagePart::Attachment(name) => format!("attachment {name}"),
            MessagePart::Other => "other".to_owned(),
        };
        parts.iter().map(show).collect()
    }

    #[test]
    fn every_part_is_read_as_the_journal_reads_it() {
        let parts = r#"[{"text":"a\nb"},{"text":"hm","thought":true},{"functionCall":{"id":"1","name":"Bash","args":{"command":"ls","n":[1,true]}}},{"functionResponse":{"id":"1","response":{"output":"x"}}},{"attachment":{"name":"a.png","type":"image/png","size":1,"sha256":""}},{"hologram":1}]"#;
        let read =
            ["text false a\nb", "text true hm", "call Bash ls 1", "result x", "attachment a.png", "other"];
        assert_eq!(shown(parts), read);
    }

    #[test]
    fn an_unusual_part_does_not_hide_the_others() {
        let parts = r#"[{"text":7},{"functionCall":"?"},{"text":"seen"}]"#;
        assert_eq!(shown(parts), ["other", "other", "text false seen"]);
    }
}
