//! A large journal folded once: what [`crate::load`] made of it, kept beside as a cache.
//!
//! Reading must not grow with what is not on the path. Texts stay in the journal anyway; this
//! spares looking at every line of hundreds of megabytes to learn how they hang together.

use std::collections::HashMap;
use std::io::Read;

use rejoin_core::{Conversation, ConversationId, MessageId};
use uuid::Uuid;

use crate::Store;

const MAGIC: &[u8; 16] = b"rejoin-fold-002\n";

/// A journal folded up to some place.
#[derive(Clone, Debug)]
pub(crate) struct Fold {
    /// Where to go on reading.
    pub(crate) end: u64,
    /// The last record that was folded in: where, and which. A journal that has another one there is
    /// another journal.
    pub(crate) last: (u64, MessageId),
    pub(crate) conversation: Conversation,
}

impl Fold {
    /// The kept fold of a journal, if it is still true.
    pub(crate) fn recall(store: &dyn Store, id: ConversationId) -> Option<Fold> {
        let fold = Self::read(&store.recall(id)?)?;
        let (place, uuid) = fold.last;
        let mut same = false;
        let fetched = store.fetch(id, &[place], &mut |_, raw| {
            same = raw.and_then(|raw| raw.envelope()).is_ok_and(|envelope| envelope.uuid == uuid);
        });
        (fetched.is_ok() && same).then_some(fold)
    }

    pub(crate) fn write(&self) -> Option<Vec<u8>> {
        let tree = &self.conversation.tree;
        let mut out = Vec::with_capacity(64 + tree.messages().len() * 32);
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&self.end.to_le_bytes());
        out.extend_from_slice(&self.last.0.to_le_bytes());
        out.extend_from_slice(self.last.1.uuid().as_bytes());
        let body = serde_json::to_vec(&self.conversation).ok()?;
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
        Some(out)
    }

    fn read(mut bytes: &[u8]) -> Option<Fold> {
        let from = &mut bytes;
        if take::<16>(from)? != *MAGIC {
            return None;
        }
        let end = number(from)?;
        let last = (number(from)?, MessageId::new(Uuid::from_bytes(take(from)?)));
        let length = number(from)? as usize;
        let (body, rest) = from.split_at_checked(length)?;
        let mut conversation: Conversation = serde_json::from_slice(body).ok()?;
        *from = rest;
        let turns = number(from)?;
        let mut places = Vec::new();
        for _ in 0..turns {
            let count = number(from)? as usize;
            let (those, rest) = from.split_at_checked(count.checked_mul(8)?)?;
            places.push(those.as_chunks().0.iter().map(|place| u64::from_le_bytes(*place)).collect());
            *from = rest;
        }
        let count = number(from)? as usize;
        if from.len() != count.checked_mul(24)? {
            return None;
        }
        let mut messages = HashMap::with_capacity(count);
        for _ in 0..count {
            messages.insert(MessageId::new(Uuid::from_bytes(take(from)?)), number(from)? as usize);
        }
        conversation.tree.refill(messages, places).then_some(Fold { end, last, conversation })
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
