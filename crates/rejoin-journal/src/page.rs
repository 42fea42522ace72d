//! Lists in pieces.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rejoin_core::ConversationId;
use serde::{Deserialize, Serialize};

use crate::{JournalHead, JournalState};

/// A piece of a list.
#[derive(Clone, PartialEq, Debug)]
pub struct Page {
    /// Newest first.
    pub heads: Vec<JournalHead>,
    /// To get the next piece; `None` at the end.
    pub next: Option<PageToken>,
}

/// Where a piece of a list ended. Opaque.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PageToken {
    /// When the last one was written, from 1970 on.
    written: Duration,
    id: ConversationId,
}

impl PageToken {
    /// For stores: behind this journal.
    pub fn after(state: &JournalState) -> Self {
        Self { written: age(state.modified), id: state.id }
    }

    /// Whether a journal comes later in the list.
    pub fn is_before(&self, state: &JournalState) -> bool {
        (self.written, state.id) > (age(state.modified), self.id)
    }
}

/// What was written before 1970 has a clock that is wrong anyway.
fn age(time: SystemTime) -> Duration {
    time.duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// A text that continues no list.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{text:?} continues no list; give what came with its last piece, or nothing to begin anew")]
pub struct NotAPage {
    /// Its beginning.
    text: String,
}

impl fmt::Display for PageToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}.{:x}.{}", self.written.as_secs(), self.written.subsec_nanos(), self.id)
    }
}

impl FromStr for PageToken {
    type Err = NotAPage;

    fn from_str(text: &str) -> Result<Self, NotAPage> {
        let parse = || {
            let mut parts = text.splitn(3, '.').filter(|_| text.len() <= 64);
            let seconds = u64::from_str_radix(parts.next()?, 16).ok()?;
            let nanos = u32::from_str_radix(parts.next()?, 16).ok().filter(|nanos| *nanos < 1_000_000_000)?;
            let token = Self { written: Duration::new(seconds, nanos), id: parts.next()?.parse().ok()? };
            (token.to_string() == text).then_some(token)
        };
        parse().ok_or_else(|| NotAPage { text: text.chars().take(64).collect() })
    }
}

impl TryFrom<String> for PageToken {
    type Error = NotAPage;

    fn try_from(text: String) -> Result<Self, NotAPage> {
        text.parse()
    }
}

impl From<PageToken> for String {
    fn from(token: PageToken) -> Self {
        token.to_string()
    }
}
