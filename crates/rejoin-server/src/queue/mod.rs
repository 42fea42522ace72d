//! Runs that wait, and when each begins.

/// Runs that wait, and those that run.
pub(crate) struct Queue;

impl Queue {
    /// How many prompts wait in a conversation.
    pub(crate) fn waiting_in(&self, _conversation: rejoin::ConversationId) -> usize {
        0
    }
}
