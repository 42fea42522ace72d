use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How far somebody has read a journal, to be kept, sent away and brought back later: a position, what the journal
/// is, and a digest of what lies before the position. [`crate::Store::cursor`] makes one, [`crate::Store::place`]
/// takes it back, or says that the journal is not any more what it was.
///
/// Its text is opaque and short, and fits into URLs and headers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Cursor {
    position: u64,
    identity: [u8; 8],
    digest: [u8; 16],
}

/// Its text.
#[cfg(feature = "openapi")]
impl utoipa::PartialSchema for Cursor {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
        String::schema()
    }
}

#[cfg(feature = "openapi")]
impl utoipa::ToSchema for Cursor {}

/// What a cursor's text begins with: another way to make a digest gets another number.
const VERSION: &str = "1";

/// The longest text of one.
const LONGEST: usize = 72;

impl Cursor {
    /// Before the first record of any journal.
    pub const BEGINNING: Cursor = Cursor { position: 0, identity: [0; 8], digest: [0; 16] };

    /// For stores: a position, what tells the journal from any other, and a digest of what lies before the
    /// position. Nothing lies before position 0.
    pub fn new(position: u64, identity: [u8; 8], digest: [u8; 16]) -> Self {
        if position == 0 { Self::BEGINNING } else { Self { position, identity, digest } }
    }

    /// Where it stands, in a journal it fits.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// What tells its journal from any other.
    pub fn identity(&self) -> [u8; 8] {
        self.identity
    }
}

/// A text that is no cursor.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{text:?} is no cursor; give one as it was handed out, or none to read from the beginning")]
pub struct NotACursor {
    /// Its beginning.
    text: String,
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.position == 0 {
            return write!(f, "{VERSION}-0");
        }
        let (identity, digest) = (u64::from_be_bytes(self.identity), u128::from_be_bytes(self.digest));
        write!(f, "{VERSION}-{:x}-{identity:016x}-{digest:032x}", self.position)
    }
}

impl FromStr for Cursor {
    type Err = NotACursor;

    fn from_str(text: &str) -> Result<Self, NotACursor> {
        let parse = || {
            if text.len() > LONGEST {
                return None;
            }
            let mut parts = text.split('-');
            let version = parts.next()?;
            let position = u64::from_str_radix(parts.next()?, 16).ok()?;
            let cursor = match (parts.next(), parts.next(), parts.next()) {
                (None, None, None) => Self::BEGINNING,
                (Some(identity), Some(digest), None) => Self {
                    position,
                    identity: u64::from_str_radix(identity, 16).ok()?.to_be_bytes(),
                    digest: u128::from_str_radix(digest, 16).ok()?.to_be_bytes(),
                },
                _ => return None,
            };
            // A cursor has one spelling, so that two of them can be compared as texts.
            (version == VERSION && cursor.to_string() == text).then_some(cursor)
        };
        parse().ok_or_else(|| NotACursor { text: text.chars().take(LONGEST).collect() })
    }
}

impl TryFrom<String> for Cursor {
    type Error = NotACursor;

    fn try_from(text: String) -> Result<Self, NotACursor> {
        text.parse()
    }
}

impl From<Cursor> for String {
    fn from(cursor: Cursor) -> Self {
        cursor.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_was_written_and_in_no_other_spelling() {
        let cursors = [
            Cursor::BEGINNING,
            Cursor::new(1, [0; 8], [0; 16]),
            Cursor::new(u64::MAX, [0xff; 8], [0xfe; 16]),
            Cursor::new(4711, *b"identity", *b"digest of before"),
        ];
        for cursor in cursors {
            let text = cursor.to_string();
            assert!(text.len() <= LONGEST, "{text}");
            assert_eq!(text.parse(), Ok(cursor));
            let json = serde_json::to_string(&cursor).unwrap();
            assert_eq!(json, format!("{text:?}"));
            assert_eq!(serde_json::from_str::<Cursor>(&json).unwrap(), cursor);
            for other in [
                text.to_uppercase(),
                format!(" {text}"),
                format!("{text}-"),
                format!("{text}0"),
                text.replacen('-', "-0", 1),
                text.replacen('-', "-+", 1),
                text.replacen('1', "2", 1),
            ] {
                assert!(other == text || other.parse::<Cursor>().is_err(), "{other}");
            }
        }
        for text in ["", "-", "1", "1-", "0", "1-1", "1-0-0-0", "1-x", "-1", &"1".repeat(10_000)] {
            let error = text.parse::<Cursor>().unwrap_err();
            assert!(error.to_string().len() < 200, "{error}");
        }
        assert_eq!(Cursor::new(0, [1; 8], [1; 16]), Cursor::BEGINNING);
    }
}
