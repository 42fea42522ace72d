//! Token counts that behave like a provider's: a conversation whose beginning was seen before is partly cached.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use super::protocol::Part;

const BYTES_PER_TOKEN: usize = 4;

/// The beginnings of conversations seen so far.
#[derive(Default)]
pub(super) struct PrefixCache {
    seen: HashSet<u64>,
}

/// What one request cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tokens {
    /// All of the conversation.
    pub input: usize,
    /// The part of `input` that was seen before.
    pub cached: usize,
    /// The answer.
    pub output: usize,
}

impl PrefixCache {
    /// Counts a request and remembers it.
    pub(super) fn count(&mut self, items: &[Value], parts: &[Part]) -> Tokens {
        let mut chain = DefaultHasher::new();
        let (mut bytes, mut cached) = (0, 0);
        for item in items {
            let text = without_cache_marks(item).to_string();
            text.hash(&mut chain);
            bytes += text.len();
            if !self.seen.insert(chain.finish()) {
                cached = bytes;
            }
        }
        let said: usize = parts.iter().map(Part::size).sum();
        Tokens {
            input: bytes / BYTES_PER_TOKEN,
            cached: cached / BYTES_PER_TOKEN,
            output: (said / BYTES_PER_TOKEN).max(1),
        }
    }
}

/// Anthropic's clients move `cache_control` along the conversation; the text it stands on stays the same.
fn without_cache_marks(value: &Value) -> Value {
    match value {
        Value::Array(values) => values.iter().map(without_cache_marks).collect(),
        Value::Object(fields) => fields
            .iter()
            .filter(|(name, _)| *name != "cache_control")
            .map(|(name, value)| (name.clone(), without_cache_marks(value)))
            .collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_beginning_seen_before_is_cached() {
        let mut cache = PrefixCache::default();
        let first = json!({"text": "a long beginning", "cache_control": {"type": "ephemeral"}});
        let bare = json!({"text": "a long beginning"});
        let second = json!({"text": "more"});
        assert_eq!(cache.count(&[first], &[]).cached, 0);
        let again = cache.count(&[bare.clone(), second.clone()], &[]);
        assert_eq!(again.cached, bare.to_string().len() / 4);
        assert!(again.input > again.cached);
        assert_eq!(cache.count(&[second], &[]).cached, 0);
    }
}
