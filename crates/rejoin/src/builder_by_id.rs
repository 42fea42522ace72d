//! Conversations and messages of a turn, named by their ids: for whoever has them, and nothing to look up.

use crate::{ConversationId, MessageId, TurnBuilder, TurnId};

impl TurnBuilder<'_> {
    /// Continue this conversation.
    #[must_use]
    pub fn in_conversation(self, id: ConversationId) -> Self {
        self.resume(id.to_string())
    }

    /// Branch from the turn of this message instead of the head; see [`TurnBuilder::checkpoint`].
    #[must_use]
    pub fn after_message(self, id: MessageId) -> Self {
        self.checkpoint(id.to_string())
    }

    /// Run beside the turn of this message, with another prompt; see [`TurnBuilder::instead_of`].
    #[must_use]
    pub fn instead_of_message(self, id: MessageId) -> Self {
        self.instead_of(id.to_string())
    }

    /// Run this turn again, with its own prompt; see [`TurnBuilder::retry`].
    #[must_use]
    pub fn retry_turn(self, id: TurnId) -> Self {
        self.retry(Some(id.to_string()))
    }
}
