//! YAML as a tree that knows where everything stands.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_saphyr::{Location, Spanned};

use crate::{Place, Problem};

/// A value with its place.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) place: Place,
    pub(crate) data: Data,
}

#[derive(Clone, Debug)]
pub(crate) enum Data {
    /// Anything that is neither a list nor a mapping.
    Scalar(Value),
    List(Vec<Node>),
    /// Keys in the order of the file, each with its place.
    Map(Vec<(String, Place, Node)>),
}

/// Reads the one document of a file.
pub(crate) fn parse(text: &str) -> Result<Node, Problem> {
    // `yes`, `no` and `y` are words, not truths.
    let options = serde_saphyr::options! { strict_booleans: true };
    match serde_saphyr::from_str_with_options::<Spanned<Data>>(text, options) {
        Ok(spanned) => Ok(Node::from(spanned)),
        Err(error) => {
            let place = error.location().map_or(Place { line: 1, column: 1 }, place_of);
            let words = error.without_snippet().to_string();
            let words = words.lines().next().unwrap_or_default();
            // The place is told in front, once; options of the parser are none of the user's.
            let words = words.rsplit_once(" at line ").map_or(words, |(words, _)| words);
            let words = words.split(", set ").next().unwrap_or_default();
            let words = words.split("; use ").next().unwrap_or_default();
            Err(Problem::at(place, format!("not readable as YAML: {words}")))
        }
    }
}

fn place_of(location: Location) -> Place {
    Place { line: location.line().max(1), column: location.column().max(1) }
}

impl From<Spanned<Data>> for Node {
    fn from(spanned: Spanned<Data>) -> Self {
        Self { place: place_of(spanned.referenced), data: spanned.value }
    }
}

impl Node {
    /// The value as JSON, for what is handed on as it is.
    pub(crate) fn to_json(&self) -> Value {
        match &self.data {
            Data::Scalar(value) => value.clone(),
            Data::List(items) => items.iter().map(Node::to_json).collect(),
            Data::Map(fields) => {
                Value::Object(fields.iter().map(|(key, _, node)| (key.clone(), node.to_json())).collect())
            }
        }
    }

    /// What it is, in words.
    pub(crate) fn kind(&self) -> &'static str {
        match &self.data {
            Data::List(_) => "a list",
            Data::Map(_) => "a mapping",
            Data::Scalar(Value::Null) => "nothing",
            Data::Scalar(Value::Bool(_)) => "true or false",
            Data::Scalar(Value::Number(_)) => "a number",
            Data::Scalar(_) => "a text",
        }
    }
}

impl<'de> Deserialize<'de> for Data {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Data;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Data, E> {
        Ok(Data::Scalar(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Data, E> {
        Ok(Data::Scalar(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Data, E> {
        Ok(Data::Scalar(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Data, E> {
        Ok(Data::Scalar(value.into()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Data, E> {
        Ok(Data::Scalar(value.into()))
    }

    fn visit_unit<E>(self) -> Result<Data, E> {
        Ok(Data::Scalar(Value::Null))
    }

    fn visit_none<E>(self) -> Result<Data, E> {
        Ok(Data::Scalar(Value::Null))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Data, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Data, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element::<Spanned<Data>>()? {
            items.push(item.into());
        }
        Ok(Data::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Data, A::Error> {
        let mut fields = Vec::new();
        while let Some((key, value)) = map.next_entry::<Spanned<String>, Spanned<Data>>()? {
            fields.push((key.value, place_of(key.referenced), value.into()));
        }
        Ok(Data::Map(fields))
    }
}
