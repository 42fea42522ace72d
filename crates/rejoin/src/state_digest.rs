//! What tells two states of a conversation apart for whoever builds on one: its head and the revision of each turn.

use rejoin_core::Conversation;
use rejoin_engine::TurnError;
use sha2::{Digest, Sha256};

use crate::{ConversationView, Error};

impl ConversationView<'_> {
    /// A digest of the head and of the revision of every turn: as long as it stays the same, nothing was added,
    /// taken back, branched or reworded. Names and labels do not count.
    pub fn state_digest(&self) -> String {
        digest(&self.conversation)
    }

    /// Edits of this view are refused as [`TurnError::Changed`] if the conversation is not any more what the view
    /// shows. It is looked at when nobody else can write.
    pub fn strictly(mut self) -> Self {
        self.strict = true;
        self
    }

    /// To be asked under a hold.
    pub(crate) fn check_unchanged(&self, now: &Conversation) -> Result<(), Error> {
        if self.strict && digest(now) != self.state_digest() {
            return Err(TurnError::Changed { what: format!("conversation {}", self.id.short()) }.into());
        }
        Ok(())
    }
}

fn digest(conversation: &Conversation) -> String {
    let tree = &conversation.tree;
    let mut hash = Sha256::new();
    hash.update(tree.head().map(|turn| turn.id.to_string()).unwrap_or_default());
    for turn in tree.turns() {
        hash.update(turn.id.to_string());
        hash.update(turn.revision.to_be_bytes());
    }
    for (name, turn) in tree.branches() {
        hash.update(name);
        hash.update([0]);
        hash.update(turn.id.to_string());
    }
    let first = hash.finalize().first_chunk().copied().unwrap_or_default();
    format!("{:032x}", u128::from_be_bytes(first))
}
