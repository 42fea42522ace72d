//! A client that draws what it is told by the rules of docs/events.md, and nothing else.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::stream::frame::Frame;

/// What was drawn of a message.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Text {
    pub(super) drawn: String,
    /// So much of it stands in the journal.
    sure: usize,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Client {
    pub(super) texts: BTreeMap<String, Text>,
    /// The ids it was told.
    pub(super) ids: Vec<String>,
    /// The records it was told, by where they end, each event of them once.
    pub(super) records: Vec<u64>,
    /// Types, in order.
    pub(super) types: Vec<String>,
}

impl Client {
    pub(super) fn hear_all(&mut self, frames: Vec<Frame>) {
        for frame in frames {
            self.hear(frame);
        }
    }

    pub(super) fn hear(&mut self, frame: Frame) {
        let (first, second) = frame.alone();
        let text = String::from_utf8([first, second.unwrap_or_default()].concat()).unwrap();
        for event in text.split_terminator("\n\n") {
            let mut data = Value::Null;
            for line in event.lines() {
                match line.split_once(": ").unwrap() {
                    ("id", id) => self.ids.push(id.to_owned()),
                    ("data", json) => data = serde_json::from_str(json).unwrap(),
                    ("event", kind) => self.types.push(kind.to_owned()),
                    other => panic!("{other:?}"),
                }
            }
            assert_eq!(
                Some(&data["type"]),
                self.types.last().map(|kind| Value::from(kind.as_str())).as_ref()
            );
            self.draw(&data);
        }
    }

    fn draw(&mut self, event: &Value) {
        let seq = event["seq"].as_u64();
        self.records.extend(seq);
        let data = &event["data"];
        let kind = event["type"].as_str().unwrap();
        if kind == "hello" {
            for text in self.texts.values_mut() {
                text.drawn.truncate(text.sure);
            }
        }
        if !["text_delta", "message", "partial"].contains(&kind) {
            return;
        }
        let text = self.texts.entry(data["message"].as_str().unwrap().to_owned()).or_default();
        let (offset, piece) = (data["offset"].as_u64().unwrap() as usize, data["text"].as_str().unwrap());
        let offset = offset.min(text.drawn.len());
        let behind = text.drawn.split_off(offset);
        text.drawn.push_str(piece);
        let end = text.drawn.len();
        if kind == "text_delta" {
            text.drawn.push_str(behind.get(piece.len()..).unwrap_or_default());
        }
        match (kind, seq) {
            ("partial", _) => text.sure = text.sure.min(end),
            (_, Some(_)) => text.sure = end,
            _ => {}
        }
    }

    /// The texts, without those of which nothing is left.
    pub(super) fn drawn(&self) -> BTreeMap<String, String> {
        let texts = self.texts.iter().filter(|(_, text)| !text.drawn.is_empty());
        texts.map(|(message, text)| (message.clone(), text.drawn.clone())).collect()
    }
}
