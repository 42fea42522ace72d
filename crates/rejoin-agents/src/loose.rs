//! JSON of other people's programs: a field that changed its shape costs that field, not the line.
//!
//! Everything here borrows from the line where it can, so that a long line is read once.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A text; `null` and structures read as nothing, numbers and booleans as their words.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Text<'a>(Option<Cow<'a, str>>);

impl Text<'_> {
    /// The text, if there was one; an empty one counts.
    pub(crate) fn get(&self) -> Option<&str> {
        self.0.as_deref()
    }

    /// The text, empty if there was none.
    pub(crate) fn as_str(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }

    /// The text, if there is something in it.
    pub(crate) fn filled(&self) -> Option<&str> {
        self.get().filter(|text| !text.is_empty())
    }

    /// As an owned text, empty if there was none.
    pub(crate) fn into_string(self) -> String {
        self.0.map(Cow::into_owned).unwrap_or_default()
    }

    /// As an owned text, if there is something in it.
    pub(crate) fn into_filled(self) -> Option<String> {
        self.0.filter(|text| !text.is_empty()).map(Cow::into_owned)
    }
}

/// A structure; anything that is no object reads as `None`.
#[derive(Clone, Debug)]
pub(crate) struct Object<T>(pub(crate) Option<T>);

impl<T> Default for Object<T> {
    fn default() -> Self {
        Self(None)
    }
}

/// A list; a single object reads as a list of one, anything else as an empty one.
#[derive(Clone, Debug)]
pub(crate) struct List<T>(pub(crate) Vec<T>);

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// A text or a list of blocks, as model APIs like to have it.
#[derive(Clone, Debug, Default)]
pub(crate) enum TextOr<'a, T> {
    Text(Cow<'a, str>),
    Blocks(Vec<T>),
    #[default]
    Neither,
}

/// A list of texts; anything else reads as an empty one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Texts<'a>(pub(crate) Vec<Text<'a>>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Shape::<IgnoredAny, IgnoredAny>::of(deserializer)? {
            Shape::Text(text) | Shape::Word(text) => Text(Some(text)),
            _ => Text(None),
        })
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Shape::<T, IgnoredAny>::of(deserializer)? {
            Shape::Object(object) => Object(Some(object)),
            _ => Object(None),
        })
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Shape::<T, Object<T>>::of(deserializer)? {
            Shape::Object(object) => List(vec![object]),
            Shape::List(list) => List(list.into_iter().filter_map(|item| item.0).collect()),
            _ => List::default(),
        })
    }
}

impl<'de: 'a, 'a, T: Deserialize<'de>> Deserialize<'de> for TextOr<'a, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Shape::<T, Object<T>>::of(deserializer)? {
            Shape::Text(text) => TextOr::Text(text),
            Shape::Object(object) => TextOr::Blocks(vec![object]),
            Shape::List(list) => TextOr::Blocks(list.into_iter().filter_map(|item| item.0).collect()),
            _ => TextOr::Neither,
        })
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Texts<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Shape::<IgnoredAny, Text<'de>>::of(deserializer)? {
            Shape::Text(text) => Texts(vec![Text(Some(text))]),
            Shape::List(list) => Texts(list),
            _ => Texts::default(),
        })
    }
}

/// Any value: its objects as `O`, the items of its lists as `I`.
enum Shape<'a, O, I> {
    Text(Cow<'a, str>),
    /// A number or a boolean.
    Word(Cow<'a, str>),
    Object(O),
    List(Vec<I>),
    Null,
}

impl<'de, O: Deserialize<'de>, I: Deserialize<'de>> Shape<'de, O, I> {
    fn of<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ShapeVisitor(PhantomData))
    }

    fn word(value: &impl ToString) -> Self {
        Shape::Word(Cow::Owned(value.to_string()))
    }
}

struct ShapeVisitor<O, I>(PhantomData<(O, I)>);

impl<'de, O: Deserialize<'de>, I: Deserialize<'de>> Visitor<'de> for ShapeVisitor<O, I> {
    type Value = Shape<'de, O, I>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Shape::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Shape::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Shape::word(&value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Shape::word(&value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Shape::word(&value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        Ok(Shape::word(&value))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Shape::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = seq.next_element()? {
            list.push(item);
        }
        Ok(Shape::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        O::deserialize(MapAccessDeserializer::new(map)).map(Shape::Object)
    }
}

/// A number; what is none reads as `None`.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Number(pub(crate) Option<f64>);

impl Number {
    /// As a count; nothing and less than nothing are zero.
    pub(crate) fn count(self) -> u64 {
        self.0.unwrap_or(0.0).max(0.0) as u64
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Text::deserialize(deserializer)?;
        Ok(Number(text.get().and_then(|text| text.parse().ok()).filter(|number: &f64| number.is_finite())))
    }
}

/// Yes or no; what is neither reads as `None`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Flag(pub(crate) Option<bool>);

impl Flag {
    /// It says yes.
    pub(crate) fn is_set(self) -> bool {
        self.0 == Some(true)
    }
}

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Text::deserialize(deserializer)?;
        Ok(Flag(text.get().and_then(|text| text.parse().ok())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize)]
    #[serde(bound(deserialize = "'de: 'a"))]
    struct Line<'a> {
        #[serde(default)]
        text: Text<'a>,
        #[serde(default)]
        texts: Texts<'a>,
        #[serde(default)]
        object: Object<Inner<'a>>,
        #[serde(default)]
        list: List<Inner<'a>>,
        #[serde(default)]
        either: TextOr<'a, Inner<'a>>,
        #[serde(default)]
        number: Number,
        #[serde(default)]
        flag: Flag,
    }

    #[derive(Clone, Debug, serde::Deserialize)]
    #[serde(bound(deserialize = "'de: 'a"))]
    struct Inner<'a> {
        #[serde(default)]
        x: Text<'a>,
    }

    #[test]
    fn any_shape_in_any_place_is_read() {
        for value in [
            "null",
            "true",
            "-1",
            "1",
            "1.5",
            r#""a""#,
            r#""a\n""#,
            r#"["a",{"x":"y"},1]"#,
            r#"{"x":"y","z":[1]}"#,
        ] {
            for field in ["text", "texts", "object", "list", "either", "number", "flag"] {
                let json = format!(r#"{{"{field}":{value},"more":1}}"#);
                assert!(serde_json::from_str::<Line<'_>>(&json).is_ok(), "{json}");
            }
        }
    }

    #[test]
    fn the_expected_shapes_keep_what_they_say() {
        let json = r#"{"text":"a","texts":["b",2],"object":{"x":"c"},"list":[{"x":"d"},"odd"],"either":"e","number":2.5,"flag":true}"#;
        let line: Line<'_> = serde_json::from_str(json).unwrap();
        assert_eq!(line.text, Text(Some(Cow::Borrowed("a"))));
        assert_eq!(line.texts.0.iter().map(Text::as_str).collect::<Vec<_>>(), ["b", "2"]);
        assert_eq!(line.object.0.unwrap().x.as_str(), "c");
        assert_eq!(line.list.0.len(), 1);
        assert!(matches!(line.either, TextOr::Text(Cow::Borrowed("e"))));
        assert_eq!((line.number.count(), line.flag.is_set()), (2, true));
    }
}
