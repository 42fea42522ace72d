//! Reads the fields of a mapping: each once, those that are not known refused with a suggestion.

use std::time::Duration;

use rejoin::suggestion;
use serde_json::Value;

use crate::model::Text;
use crate::node::{Data, Node};
use crate::{Place, Problem};

/// The fields of one mapping that were not taken yet.
pub(crate) struct Fields<'a> {
    pub(crate) place: Place,
    left: Vec<&'a (String, Place, Node)>,
    known: Vec<&'static str>,
    problems: &'a mut Vec<Problem>,
}

impl<'a> Fields<'a> {
    /// The fields of a node, which must be a mapping.
    pub(crate) fn of(node: &'a Node, what: &str, problems: &'a mut Vec<Problem>) -> Option<Self> {
        if let Data::Map(fields) = &node.data {
            return Some(Self {
                place: node.place,
                left: fields.iter().collect(),
                known: Vec::new(),
                problems,
            });
        }
        let text = format!("{what} must be a mapping, this is {}", node.kind());
        problems.push(Problem::at(node.place, text));
        None
    }

    /// Notes what is wrong.
    pub(crate) fn wrong(&mut self, place: Place, text: impl Into<String>) {
        self.problems.push(Problem::at(place, text));
    }

    /// Where all problems go.
    pub(crate) fn problems(&mut self) -> &mut Vec<Problem> {
        self.problems
    }

    /// Whether a field is there and was not taken yet.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.left.iter().any(|(key, ..)| key == name)
    }

    /// Whether every field was taken.
    pub(crate) fn is_empty(&self) -> bool {
        self.left.is_empty()
    }

    /// A field as it is, with the place of its key.
    pub(crate) fn take(&mut self, name: &'static str) -> Option<(Place, &'a Node)> {
        self.known.push(name);
        let at = self.left.iter().position(|(key, ..)| key == name)?;
        let (_, place, node) = self.left.remove(at);
        Some((*place, node))
    }

    /// A text; numbers and truths count as what they look like.
    pub(crate) fn text(&mut self, name: &'static str) -> Option<Text> {
        let (_, node) = self.take(name)?;
        let text = text_of(node);
        if text.is_none() {
            self.wrong(node.place, format!("{name:?} must be a text, this is {}", node.kind()));
        }
        text
    }

    /// `true` or `false`, `false` without the field.
    pub(crate) fn truth(&mut self, name: &'static str) -> bool {
        self.truth_or(name, false)
    }

    /// `true` or `false`, or what is usual without the field.
    pub(crate) fn truth_or(&mut self, name: &'static str, usual: bool) -> bool {
        let Some((_, node)) = self.take(name) else { return usual };
        if let Data::Scalar(Value::Bool(value)) = &node.data {
            return *value;
        }
        self.wrong(node.place, format!("{name:?} must be true or false, this is {}", node.kind()));
        usual
    }

    /// A number of at least one.
    pub(crate) fn count(&mut self, name: &'static str, usual: usize) -> usize {
        let Some((_, node)) = self.take(name) else { return usual };
        match &node.data {
            Data::Scalar(Value::Number(number)) if number.as_u64().is_some_and(|number| number > 0) => {
                number.as_u64().and_then(|number| usize::try_from(number).ok()).unwrap_or(usual)
            }
            _ => {
                self.wrong(node.place, format!("{name:?} must be a whole number of at least 1"));
                usual
            }
        }
    }

    /// A time, as the flags of the command write it.
    pub(crate) fn time(&mut self, name: &'static str) -> Option<Duration> {
        let text = self.text(name)?;
        let parsed = rejoin::parse_duration(&text.text);
        let parsed =
            parsed.and_then(|time| if time.is_zero() { Err("no time at all".into()) } else { Ok(time) });
        parsed.map_err(|words| self.wrong(text.place, format!("{name:?}: {words}"))).ok()
    }

    /// One of a few words.
    pub(crate) fn word<T: Copy>(&mut self, name: &'static str, words: &[(&str, T)]) -> Option<T> {
        let text = self.text(name)?;
        self.one_of(name, &text, words)
    }

    /// A text that must be one of a few words.
    pub(crate) fn one_of<T: Copy>(&mut self, name: &str, text: &Text, words: &[(&str, T)]) -> Option<T> {
        let found = words.iter().find(|(word, _)| *word == text.text);
        if found.is_none() {
            let list: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            let hint = suggestion(&text.text, list.iter().map(|word| (*word).to_owned()));
            let all = list.join(", ");
            self.wrong(text.place, format!("{name:?} cannot be {:?}; it is one of {all}{hint}", text.text));
        }
        found.map(|(_, value)| *value)
    }

    /// A text, or a list of them.
    pub(crate) fn texts(&mut self, name: &'static str) -> Vec<Text> {
        let Some((_, node)) = self.take(name) else { return Vec::new() };
        let nodes = match &node.data {
            Data::List(items) => items.iter().collect(),
            _ => vec![node],
        };
        let mut texts = Vec::new();
        for node in nodes {
            match text_of(node) {
                Some(text) => texts.push(text),
                None => self.wrong(
                    node.place,
                    format!("{name:?} must be a text or a list of them, this is {}", node.kind()),
                ),
            }
        }
        texts
    }

    /// Refuses the whole mapping; nothing more is said about its fields.
    pub(crate) fn refuse(&mut self, place: Place, text: impl Into<String>) {
        self.wrong(place, text);
        self.left.clear();
    }

    /// Refuses what is left.
    pub(crate) fn end(self) {
        for (key, place, _) in self.left {
            let names = || self.known.iter().map(|name| (*name).to_owned());
            let hint = suggestion(key, names());
            let text = match hint.strip_prefix("; ") {
                Some(hint) => format!("unknown field {key:?}, {hint}"),
                None => {
                    format!("unknown field {key:?}; known are {}", names().collect::<Vec<_>>().join(", "))
                }
            };
            self.problems.push(Problem::at(*place, text));
        }
    }
}

/// A scalar as a text.
pub(crate) fn text_of(node: &Node) -> Option<Text> {
    let text = match &node.data {
        Data::Scalar(Value::String(text)) => text.clone(),
        Data::Scalar(value @ (Value::Number(_) | Value::Bool(_))) => value.to_string(),
        _ => return None,
    };
    Some(Text { text, place: node.place })
}
