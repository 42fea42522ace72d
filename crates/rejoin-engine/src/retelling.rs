//! Reads a journal on, and tells its records as events again: to whoever watches a turn of this process and came late,
//! and to whoever watches a conversation.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use rejoin_core::{ConversationId, Record, Reteller, Told, ToldRecord, TurnId};
use rejoin_journal::{Cursor, Entry, JournalError, KeptOpen, Store, Waker};

/// A journal, and how far it was told.
pub(crate) struct Retelling {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) conversation: ConversationId,
    reteller: Reteller,
    at: u64,
    kept: KeptOpen,
}

/// What one record tells.
pub(crate) struct RetoldRecord {
    /// Where it stands.
    pub(crate) place: u64,
    /// Where to go on behind it.
    pub(crate) end: u64,
    /// When it was written.
    pub(crate) time: String,
    /// The turn it is about, if it is about one.
    pub(crate) turn: Option<TurnId>,
    /// May be nothing.
    pub(crate) told: Vec<Told>,
}

impl Retelling {
    /// From a place on. A turn is only told from its first record on.
    pub(crate) fn new(store: Arc<dyn Store>, conversation: ConversationId, from: u64) -> Self {
        Self { store, conversation, reteller: Reteller::default(), at: from, kept: KeptOpen::default() }
    }

    /// How far it was told.
    pub(crate) fn at(&self) -> u64 {
        self.at
    }

    /// Tells what stands there until `take` has enough; if nothing does, waits for it.
    pub(crate) fn tell(
        &mut self,
        timeout: Duration,
        waker: &Waker,
        take: &mut dyn FnMut(RetoldRecord) -> ControlFlow<()>,
    ) -> Result<(), JournalError> {
        let each = &mut telling(&mut self.reteller, take);
        self.at = self.store.tail(self.conversation, self.at, timeout, waker, each)?;
        Ok(())
    }

    /// The same, where what stood before a cursor must still stand; gives the cursor of how far it was told.
    pub(crate) fn tell_on(
        &mut self,
        known: &Cursor,
        timeout: Duration,
        waker: &Waker,
        take: &mut dyn FnMut(RetoldRecord) -> ControlFlow<()>,
    ) -> Result<Cursor, JournalError> {
        let Self { store, conversation, reteller, at, kept } = self;
        let each = &mut telling(reteller, take);
        let cursor = store.tail_on(*conversation, *at, known, timeout, waker, kept, each)?;
        self.at = cursor.position();
        Ok(cursor)
    }

    /// The cursor of a place that was told.
    pub(crate) fn cursor(&self, place: u64) -> Result<Cursor, JournalError> {
        self.store.cursor_on(self.conversation, place, &self.kept)
    }
}

/// Makes of each entry of a journal what it tells.
fn telling<'a>(
    reteller: &'a mut Reteller,
    take: &'a mut dyn FnMut(RetoldRecord) -> ControlFlow<()>,
) -> impl FnMut(Entry<'_>) -> ControlFlow<()> + 'a {
    move |entry| {
        // What is no record tells nothing: whoever looks at the conversation is told of it.
        let Ok(mut record) = serde_json::from_str::<Record>(entry.json) else {
            return ControlFlow::Continue(());
        };
        let time = std::mem::take(&mut record.timestamp);
        let ToldRecord { turn, told } = reteller.tell(record);
        take(RetoldRecord { place: entry.place, end: entry.end, time, turn, told })
    }
}
