use std::fmt;

use rejoin_core::{MessageId, System, TurnId};

/// Something in a journal that cannot be used. Reading goes on after it.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Problem {
    /// A write was cut here (killed, disk full): it was never acknowledged.
    #[error("{bytes} bytes of an unfinished record")]
    Torn {
        /// How many bytes stand there.
        bytes: u64,
    },
    /// A line nobody wrote with rejoin; it was not loaded.
    #[error("a line of {bytes} bytes, too long to load")]
    TooLong {
        /// Its length.
        bytes: u64,
    },
    /// The bytes are no text.
    #[error("not UTF-8")]
    NotUtf8,
    /// The text is no JSON.
    #[error("not JSON ({why})")]
    NotJson {
        /// What the parser said.
        why: String,
    },
    /// The JSON is no record.
    #[error("not a record ({why})")]
    NotARecord {
        /// What is wrong with it.
        why: String,
    },
    /// Nothing stands where a record stood.
    #[error("no record stands here any more")]
    Vanished,
    /// The record that says what the conversation is cannot be read; the others tell most of it.
    #[error("the first record is lost; the directory and the project are taken from the others")]
    FirstRecordLost,
    /// Nothing stands in the journal. A new one appears with its first records in it, so something emptied it, or
    /// rejoin 0.1 was killed before it wrote to it.
    #[error(
        "the journal is empty: its first record is lost (if it is one of rejoin 0.1 that never had a turn, nothing is); `rejoin rm` takes it away"
    )]
    Empty,
    /// A newer rejoin wrote this journal: it is read as far as understood.
    #[error(
        "written in format {schema} by a newer rejoin; this one knows {known} and may miss things",
        known = System::SCHEMA
    )]
    NewerVersion {
        /// Its format.
        schema: u32,
    },
    /// A message names a parent that does not stand before it: the walk ends there.
    #[error("message {parent} is missing; what hangs on it is cut off from what came before")]
    MissingParent {
        /// The parent.
        parent: MessageId,
    },
    /// A prompt stands there twice, with its turn: the copy is passed over.
    #[error("prompt {message} stands here again; the copy of its turn is passed over")]
    Repeated {
        /// The message.
        message: MessageId,
    },
    /// Turns that are each other's parents.
    #[error("turn {turn} is its own ancestor")]
    Cycle {
        /// One of them.
        turn: TurnId,
    },
}

impl Problem {
    pub(crate) fn not_json(error: &serde_json::Error) -> Self {
        Problem::NotJson { why: brief(error) }
    }

    pub(crate) fn not_a_record(error: &serde_json::Error) -> Self {
        Problem::NotARecord { why: brief(error) }
    }

    /// Whether nothing that was ever acknowledged is lost by it.
    pub fn is_harmless(&self) -> bool {
        matches!(self, Problem::Torn { .. } | Problem::NewerVersion { .. } | Problem::Repeated { .. })
    }
}

/// The parser quotes what it stumbled over, which may be a whole prompt.
fn brief(error: &serde_json::Error) -> String {
    let mut text = error.to_string();
    text.truncate(text.floor_char_boundary(160));
    text
}

/// A problem and where it stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Noted {
    /// Where, in bytes from the beginning, if it stands in one place.
    pub place: Option<u64>,
    /// The line, counted from 1, where it is known.
    pub line: Option<u64>,
    /// What.
    pub problem: Problem,
}

impl fmt::Display for Noted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, self.place) {
            (Some(line), Some(place)) => write!(f, "line {line} (byte {place}): ")?,
            (Some(line), None) => write!(f, "line {line}: ")?,
            (None, Some(place)) => write!(f, "byte {place}: ")?,
            (None, None) => {}
        }
        self.problem.fmt(f)
    }
}

/// The problems met on reading: all are counted, the first ones kept.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Problems {
    /// The first ones.
    pub noted: Vec<Noted>,
    /// How many there were.
    pub count: u64,
    /// How many of them cost something that was acknowledged.
    pub losses: u64,
}

impl Problems {
    /// How many are kept: a ruined file must not fill the memory with complaints.
    pub const KEPT: usize = 100;

    /// Whether there was none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds one.
    pub fn note(&mut self, place: Option<u64>, line: Option<u64>, problem: Problem) {
        self.count += 1;
        self.losses += u64::from(!problem.is_harmless());
        if self.noted.len() < Self::KEPT {
            self.noted.push(Noted { place, line, problem });
        }
    }
}

impl IntoIterator for Problems {
    type Item = Noted;
    type IntoIter = std::vec::IntoIter<Noted>;
    fn into_iter(self) -> Self::IntoIter {
        self.noted.into_iter()
    }
}
