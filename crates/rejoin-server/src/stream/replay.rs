//! What a reader is told from the journal: he has just come, or was too slow.

use std::time::Duration;

use rejoin_core::ConversationId;
use rejoin_engine::{ConversationWatch, NextEvents};
use rejoin_journal::JournalError;

use super::frame::Frame;

/// So much is rendered at once: a reader who stops reading holds no more than that, and one record.
const PAGE_BYTES: usize = 64 << 10;

/// A way through the journal.
pub(crate) struct Replay {
    conversation: ConversationId,
    watch: ConversationWatch,
}

/// Some of what stands there.
pub(crate) struct Page {
    pub(crate) frames: Vec<Frame>,
    /// All before it was told.
    pub(crate) place: u64,
}

impl Replay {
    pub(crate) fn new(conversation: ConversationId, watch: ConversationWatch) -> Self {
        Self { conversation, watch }
    }

    /// What stands there, without waiting for more. Nothing at the end of the journal.
    pub(crate) fn page(&mut self) -> Result<Page, JournalError> {
        let (mut frames, mut bytes) = (Vec::new(), 0);
        while bytes < PAGE_BYTES {
            let NextEvents::Events(happened) = self.watch.next_within(Duration::ZERO)? else { break };
            let cursor = self.watch.cursor_behind(&happened)?;
            let frame =
                Frame::of_record(self.conversation, happened.turn, &happened.time, &happened.told, cursor);
            bytes += frame.len();
            frames.push(frame);
        }
        Ok(Page { frames, place: self.watch.position() })
    }
}
