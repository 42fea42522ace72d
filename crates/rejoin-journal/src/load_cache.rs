//! A large journal loaded once: what [`crate::load`] made of it, kept beside as a cache.
//!
//! Reading must not grow with what is not on the path. Texts stay in the journal anyway; this
//! spares looking at every line of hundreds of megabytes to learn how they hang together.

use std::collections::HashMap;
use std::io::Read;
use std::sync::LazyLock;

use rejoin_core::{Conversation, ConversationId, MessageId};
use uuid::Uuid;

use crate::turn_spans::TurnSpans;
use crate::{Checksum, Store};

/// What a cached load begins with. A reader believes only what the same code made: another one may pass over
/// records and fields that this one knows, or make something else of them. Nobody has to think of raising
/// a number: the sources of all that is loaded, and of the way it is done, are in it.
fn beginning(id: ConversationId) -> Vec<u8> {
    format!("rejoin-load {} {} {id}\n", env!("CARGO_PKG_VERSION"), *MADE_BY).into_bytes()
}

static MADE_BY: LazyLock<String> = LazyLock::new(|| {
    let here = [
        include_bytes!("load_cache.rs").as_slice(),
        include_bytes!("load.rs"),
        include_bytes!("turn_spans.rs"),
    ];
    let here = here.concat();
    format!("{}-{:016x}", rejoin_core::SOURCES, Checksum::of(&here))
});

/// A journal loaded up to some place.
#[derive(Clone, Debug)]
pub(crate) struct CachedLoad {
    /// Where to go on reading.
    pub(crate) end: u64,
    /// The last record that was taken in: where, and which. A journal that has another one there is
    /// another journal.
    pub(crate) last: (u64, MessageId),
    pub(crate) conversation: Conversation,
    pub(crate) spans: TurnSpans,
}

impl CachedLoad {
    /// The cached load of a journal, if it is still true.
    pub(crate) fn recall(store: &dyn Store, id: ConversationId) -> Option<CachedLoad> {
        let cached = Self::read(id, &store.files().ok()?.cached_load(id)?)?;
        let (place, uuid) = cached.last;
        let mut same = false;
        let fetched = store.fetch(id, &[place], &mut |_, raw| {
            same = raw.and_then(|raw| raw.envelope()).is_ok_and(|envelope| envelope.uuid == uuid);
        });
        (fetched.is_ok() && same).then_some(cached)
    }

    /// As it is kept; `None` if it is not to be.
    pub(crate) fn write(&self, id: ConversationId) -> Option<Vec<u8>> {
        // A build of the same version that knows these records must see them.
        if self.conversation.unknown > 0 {
            return None;
        }
        let tree = &self.conversation.tree;
        let mut out = beginning(id);
        out.reserve(64 + tree.messages().len() * 40);
        out.extend_from_slice(&self.end.to_le_bytes());
        out.extend_from_slice(&self.last.0.to_le_bytes());
        out.extend_from_slice(self.last.1.uuid().as_bytes());
        let body = serde_json::to_vec(&(&self.conversation, &self.spans)).ok()?;
        out.extend_from_slice(&(body.len() as u64).to_le_bytes());
        out.extend_from_slice(&body);
        out.extend_from_slice(&(tree.turns().len() as u64).to_le_bytes());
        for turn in tree.turns() {
            out.extend_from_slice(&(turn.records.len() as u64).to_le_bytes());
            for place in &turn.records {
                out.extend_from_slice(&place.to_le_bytes());
            }
        }
        out.extend_from_slice(&(tree.messages().len() as u64).to_le_bytes());
        for (message, at) in tree.messages() {
            out.extend_from_slice(message.uuid().as_bytes());
            out.extend_from_slice(&(at as u64).to_le_bytes());
        }
        out.extend_from_slice(&Checksum::of(&out).to_le_bytes());
        Some(out)
    }

    /// `None` for what another version kept, what is about another journal, and what is damaged.
    fn read(id: ConversationId, bytes: &[u8]) -> Option<CachedLoad> {
        let (bytes, sum) = bytes.split_last_chunk()?;
        let mut rest = bytes.strip_prefix(beginning(id).as_slice())?;
        if Checksum::of(bytes).to_le_bytes() != *sum {
            return None;
        }
        let from = &mut rest;
        let end = number(from)?;
        let last = (number(from)?, MessageId::new(Uuid::from_bytes(take(from)?)));
        let length = number(from)? as usize;
        let (body, after) = from.split_at_checked(length)?;
        let (mut conversation, spans): (Conversation, TurnSpans) = serde_json::from_slice(body).ok()?;
        *from = after;
        let turns = number(from)?;
        let mut places = Vec::new();
        for _ in 0..turns {
            let count = number(from)? as usize;
            let (those, after) = from.split_at_checked(count.checked_mul(8)?)?;
            places.push(those.as_chunks().0.iter().map(|place| u64::from_le_bytes(*place)).collect());
            *from = after;
        }
        let count = number(from)? as usize;
        if from.len() != count.checked_mul(24)? {
            return None;
        }
        let mut messages = HashMap::with_capacity(count);
        for _ in 0..count {
            messages.insert(MessageId::new(Uuid::from_bytes(take(from)?)), number(from)? as usize);
        }
        conversation.tree.refill(messages, places).then_some(CachedLoad { end, last, conversation, spans })
    }
}

fn take<const N: usize>(from: &mut &[u8]) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    from.read_exact(&mut bytes).ok()?;
    Some(bytes)
}

fn number(from: &mut &[u8]) -> Option<u64> {
    Some(u64::from_le_bytes(take(from)?))
}

#[cfg(test)]
mod tests {
    use rejoin_core::Envelope;

    use super::*;

    fn cached() -> (ConversationId, CachedLoad) {
        let id = ConversationId::new(Uuid::from_u128(7));
        let (mut conversation, mut spans) = <(Conversation, TurnSpans)>::default();
        let mut last = (0, MessageId::new(Uuid::nil()));
        for (place, line) in (0..).zip(STORY.lines()) {
            let envelope: Envelope<'_> = serde_json::from_str(line).unwrap();
            conversation.apply(&envelope, place);
            spans.apply(&envelope, place);
            last = (place, envelope.uuid);
        }
        (id, CachedLoad { end: STORY.len() as u64, last, conversation, spans })
    }

    const STORY: &str = include_str!("../tests/corpus/story.jsonl");

    #[test]
    fn no_damaged_load_is_believed() {
        let (id, cached) = cached();
        let bytes = cached.write(id).unwrap();
        assert!(CachedLoad::read(id, &bytes).is_some());
        for at in 0..bytes.len() {
            for damage in [1, 2, 4, 8, 16, 32, 64, 128, 0xff] {
                let mut damaged = bytes.clone();
                damaged[at] ^= damage;
                assert!(CachedLoad::read(id, &damaged).is_none(), "byte {at} xor {damage}");
            }
            assert!(CachedLoad::read(id, &bytes[..at]).is_none(), "cut at {at}");
            let zeros = [&bytes[..at], &vec![0; bytes.len() - at]].concat();
            assert!(zeros == bytes || CachedLoad::read(id, &zeros).is_none(), "zeros from {at}");
        }
    }

    #[test]
    fn a_load_of_another_conversation_or_made_by_other_code_is_not_believed() {
        let (id, cached) = cached();
        let bytes = cached.write(id).unwrap();
        assert!(CachedLoad::read(ConversationId::new(Uuid::from_u128(8)), &bytes).is_none());
        let whole = beginning(id).len();
        let version = env!("CARGO_PKG_VERSION");
        let other_core = MADE_BY.replacen(rejoin_core::SOURCES, "0123456789abcdef", 1);
        for other in ["4 0.1.0", &format!("0.0.9 {}", *MADE_BY), &format!("{version} {other_core}")] {
            let mut foreign = format!("rejoin-load {other} {id}\n").into_bytes();
            foreign.extend_from_slice(&bytes[whole..bytes.len() - 8]);
            foreign.extend_from_slice(&Checksum::of(&foreign).to_le_bytes());
            assert!(CachedLoad::read(id, &foreign).is_none(), "{other}");
        }
    }

    #[test]
    fn what_passed_over_records_is_not_kept() {
        let (id, mut cached) = cached();
        let line = r#"{"uuid":"10000000-0000-4000-8000-000000000fff","type":"hologram"}"#;
        cached.conversation.apply(&serde_json::from_str(line).unwrap(), 99);
        assert_eq!(cached.write(id), None);
    }
}
