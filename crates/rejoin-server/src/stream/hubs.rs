//! All conversations that are watched, and how many may watch.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rejoin::Rejoin;
use rejoin_core::{ConversationId, Event, TurnId};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::change_feed::ChangeFeed;
use super::hub::{Hub, Subscription};
use crate::problem::{Code, Problem};

/// So many streams may be open at once.
const MOST_STREAMS: usize = 2000;
/// So many who lag, or have just come, are served from the disk at once.
const READ_AT_ONCE: usize = 4;

/// Conversations that are watched.
#[derive(Clone)]
pub(crate) struct Hubs(Arc<Shared>);

struct Shared {
    hubs: Mutex<HashMap<ConversationId, Arc<Hub>>>,
    streams: Arc<Semaphore>,
    reading: Semaphore,
    changes: ChangeFeed,
}

/// The right to one open stream.
pub(crate) struct StreamSlot {
    _permit: OwnedSemaphorePermit,
}

impl Default for Hubs {
    fn default() -> Self {
        Self(Arc::new(Shared {
            hubs: Mutex::default(),
            streams: Arc::new(Semaphore::new(MOST_STREAMS)),
            reading: Semaphore::new(READ_AT_ONCE),
            changes: ChangeFeed::default(),
        }))
    }
}

impl Hubs {
    /// What happens in a turn of this process, before it stands in the journal: pieces of text reach those who watch the
    /// conversation at once. All else they learn from the journal, where it stands before anybody hears of it.
    pub(crate) fn live(&self, conversation: ConversationId, turn: TurnId, event: &Event) {
        let hub = self.hubs().get(&conversation).cloned();
        if let Some(hub) = hub {
            hub.live(turn, event);
        }
    }

    /// Whether somebody watches a conversation.
    pub(crate) fn is_watched(&self, conversation: ConversationId) -> bool {
        self.hubs().get(&conversation).is_some_and(|hub| hub.is_watched())
    }

    /// Whether somebody watches what happens anywhere.
    pub(crate) fn inbox_watched(&self) -> bool {
        self.0.changes.is_watched()
    }

    /// What happens anywhere.
    pub(crate) fn changes(&self) -> &ChangeFeed {
        &self.0.changes
    }

    /// Takes a place among all who watch.
    pub(crate) fn take_slot(&self) -> Result<StreamSlot, Problem> {
        let permit = Arc::clone(&self.0.streams).try_acquire_owned();
        permit.map(|permit| StreamSlot { _permit: permit }).map_err(|_| {
            Problem::new(Code::TooMany, format!("{MOST_STREAMS} streams are open, and that is the limit"))
                .hint("close some; one GET /api/v1/stream tells of many conversations")
                .retry_after(5)
        })
    }

    /// How many streams are open.
    pub(crate) fn open_streams(&self) -> usize {
        MOST_STREAMS - self.0.streams.available_permits()
    }

    /// Watches a conversation. Waits for the disk.
    pub(crate) fn subscribe(
        &self,
        rejoin: &Rejoin,
        conversation: ConversationId,
    ) -> Result<Subscription, Problem> {
        if let Some(hub) = self.hubs().get(&conversation) {
            return Ok(Subscription::new(hub));
        }
        let shared = Arc::downgrade(&self.0);
        let started = Hub::start(rejoin, conversation, move |hub, failed| {
            let Some(shared) = shared.upgrade() else { return true };
            let mut hubs = lock(&shared.hubs);
            if failed.is_none() && hub.is_watched() {
                return false;
            }
            if hubs.get(&conversation).is_some_and(|known| Arc::ptr_eq(known, hub)) {
                hubs.remove(&conversation);
            }
            true
        })?;
        // Another one may have been started meanwhile: it is taken, and this one ends by itself.
        let mut hubs = self.hubs();
        Ok(Subscription::new(hubs.entry(conversation).or_insert(started)))
    }

    /// Reads on a thread that may wait for the disk, few at a time.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let _permit = self.0.reading.acquire().await;
        tokio::task::spawn_blocking(work).await.map_err(|error| Problem::lost(&error))
    }

    /// How many conversations are followed.
    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.hubs().len()
    }

    fn hubs(&self) -> MutexGuard<'_, HashMap<ConversationId, Arc<Hub>>> {
        lock(&self.0.hubs)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
