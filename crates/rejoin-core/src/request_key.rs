use std::fmt;

use serde::{Deserialize, Serialize};

/// By what whoever asked for a turn tells his requests apart. It stands in the record of the user's words: asked
/// for a second time, the turn that stands there is the answer, and not another turn.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RequestKey {
    /// His own name for the request, another one for each.
    pub key: String,
    /// A digest of what he asked for: one key for two different requests is a mistake that is told.
    pub digest: String,
}

/// No key is longer, in bytes.
const LONGEST: usize = 256;

impl RequestKey {
    /// Refuses a key that is none.
    pub fn check(&self) -> Result<(), InvalidRequestKey> {
        let plain = !self.key.is_empty() && !self.key.chars().any(char::is_control);
        if plain && self.key.len() <= LONGEST { Ok(()) } else { Err(InvalidRequestKey) }
    }
}

impl fmt::Display for RequestKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.key)
    }
}

/// A key that cannot be one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "the key of a request must have 1 to {LONGEST} bytes and no control characters; a random UUID is a good one"
)]
pub struct InvalidRequestKey;
