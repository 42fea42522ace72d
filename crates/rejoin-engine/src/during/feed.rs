//! Events on their way to whoever watches a turn in this process, as they happen.
//!
//! Of a turn with a journal nobody is waited for: what a slow watcher has not taken when its share is
//! full is dropped here, and he is served from the journal ([`crate::Events`]). An ephemeral turn has
//! none: there the engine stops reading ([`Feed::is_full`]).

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::{Duration, Instant};

use rejoin_core::Event;

/// Events that were read in one go.
pub(crate) type Batch = Vec<Event>;

/// What may wait for the watcher of a turn that has no journal.
pub(crate) const UNSHOWN_BYTES: usize = 1 << 20;
/// What may wait for the watcher of a turn that has one.
const SHARE_BYTES: usize = 8 << 20;
/// What is kept for a watcher who has not come yet.
const BACKLOG_BYTES: usize = 256 << 10;

struct State {
    batches: VecDeque<(Batch, usize, u64)>,
    bytes: usize,
    /// Somebody takes them.
    watched: bool,
    /// What was not taken in time is dropped, and so is all that follows.
    lagging: bool,
    /// Where in the journal all stands that was told so far, but for text that is being gathered.
    place: u64,
    closed: bool,
    /// Those who wait without a thread.
    wakers: Vec<Waker>,
    /// How many threads wait: to call where nobody waits costs a system call, too.
    waiting: usize,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    /// Nobody can be served from a journal: nothing may be dropped.
    ephemeral: bool,
}

/// Either end.
#[derive(Clone)]
pub(crate) struct Feed(Arc<Shared>);

/// What a watcher gets.
#[derive(Debug)]
pub(crate) enum Fed {
    /// Events, and the place in the journal behind them.
    Batch(Batch, u64),
    /// The time is up.
    Nothing,
    /// He was too slow: the rest is in the journal.
    Lagging,
    /// That was all.
    Closed,
}

impl Feed {
    pub(crate) fn new(ephemeral: bool) -> Self {
        let state = State {
            batches: VecDeque::new(),
            bytes: 0,
            watched: false,
            lagging: false,
            place: 0,
            closed: false,
            wakers: Vec::new(),
            waiting: 0,
        };
        Self(Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new(), ephemeral }))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands events on; everything but text stands in the journal before `place`.
    pub(crate) fn push(&self, batch: Batch, bytes: usize, place: u64) {
        let mut state = self.lock();
        state.place = state.place.max(place);
        if !state.closed && !state.lagging {
            let place = state.place;
            state.bytes += bytes;
            state.batches.push_back((batch, bytes, place));
            let share = if state.watched { SHARE_BYTES } else { BACKLOG_BYTES };
            if !self.0.ephemeral && state.bytes > share && state.batches.len() > 1 {
                state.lagging = true;
                state.batches = VecDeque::new();
                state.bytes = 0;
            }
        }
        self.notify(state);
    }

    /// More stands in the journal.
    pub(crate) fn reached(&self, place: u64) {
        let mut state = self.lock();
        state.place = state.place.max(place);
        self.notify(state);
    }

    /// Whether nothing more may be read from the agent for now.
    pub(crate) fn is_full(&self) -> bool {
        self.unshown() >= UNSHOWN_BYTES
    }

    /// How much waits, where it must be waited for.
    pub(crate) fn unshown(&self) -> usize {
        if !self.0.ephemeral {
            return 0;
        }
        let state = self.lock();
        if state.closed { 0 } else { state.bytes }
    }

    /// Nobody will take anything: an ephemeral turn need not wait for him.
    pub(crate) fn drop_all(&self) {
        let mut state = self.lock();
        state.lagging = true;
        state.batches = VecDeque::new();
        state.bytes = 0;
    }

    /// Nothing more comes.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        self.notify(state);
    }

    /// Whether nothing more comes.
    pub(crate) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Lets all look who wait.
    fn notify(&self, mut state: MutexGuard<'_, State>) {
        let wakers = std::mem::take(&mut state.wakers);
        let anybody = state.waiting > 0;
        drop(state);
        if anybody {
            self.0.changed.notify_all();
        }
        wakers.into_iter().for_each(Waker::wake);
    }

    fn wait<'a>(&'a self, mut state: MutexGuard<'a, State>, limit: Duration) -> MutexGuard<'a, State> {
        state.waiting += 1;
        let waited = self.0.changed.wait_timeout(state, limit);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner).0;
        state.waiting -= 1;
        state
    }

    /// Wakes somebody, once, when there is something to look at again. To be asked before looking.
    pub(crate) fn wake_on_change(&self, waker: &Waker) {
        let mut state = self.lock();
        if !state.wakers.iter().any(|known| known.will_wake(waker)) {
            state.wakers.push(waker.clone());
        }
    }

    /// Whether this is the first to ask: one watcher is fed, all others read the journal.
    pub(crate) fn take(&self) -> bool {
        !std::mem::replace(&mut self.lock().watched, true)
    }

    /// The next events, waiting for them no longer than `limit`.
    pub(crate) fn pop(&self, limit: Duration) -> Fed {
        let deadline = Instant::now() + limit;
        let mut state = self.lock();
        loop {
            if let Some((batch, bytes, place)) = state.batches.pop_front() {
                state.bytes -= bytes;
                return Fed::Batch(batch, place);
            }
            if state.lagging && !self.0.ephemeral {
                return Fed::Lagging;
            }
            if state.closed {
                return Fed::Closed;
            }
            let Some(left) = deadline.checked_duration_since(Instant::now()) else { return Fed::Nothing };
            state = self.wait(state, left);
        }
    }

    /// Whether the journal has more than `place`, or has it for good.
    pub(crate) fn is_beyond(&self, place: u64) -> bool {
        let state = self.lock();
        state.place > place || state.closed
    }

    /// Waits until the journal has more than `place`; whether nothing more will come.
    pub(crate) fn wait_beyond(&self, place: u64, limit: Duration) -> bool {
        let deadline = Instant::now() + limit;
        let mut state = self.lock();
        while state.place <= place && !state.closed {
            let Some(left) = deadline.checked_duration_since(Instant::now()) else { return false };
            state = self.wait(state, left);
        }
        state.closed
    }
}

#[cfg(test)]
mod tests {
    use rejoin_core::Stream;

    use super::*;

    fn event(text: &str) -> Batch {
        vec![Event::Diagnostic { stream: Stream::Stdout, text: text.into() }]
    }

    #[test]
    fn a_slow_watcher_is_sent_to_the_journal_and_nobody_waits_for_him() {
        let feed = Feed::new(false);
        assert!(feed.take() && !feed.take(), "one is fed");
        feed.push(event("a"), 1, 10);
        feed.push(event("b"), SHARE_BYTES, 20);
        assert!(!feed.is_full());
        assert!(matches!(feed.pop(Duration::ZERO), Fed::Lagging), "of what was dropped nothing is shown");
        feed.push(event("c"), 1, 30);
        assert!(matches!(feed.pop(Duration::ZERO), Fed::Lagging));
        assert!(!feed.wait_beyond(20, Duration::ZERO), "30 is beyond it");
        feed.close();
        assert!(feed.wait_beyond(30, Duration::ZERO));
    }

    #[test]
    fn one_batch_is_shown_however_large_it_is() {
        let feed = Feed::new(false);
        feed.take();
        feed.push(event("giant"), 2 * SHARE_BYTES, 10);
        assert!(matches!(feed.pop(Duration::ZERO), Fed::Batch(_, 10)));
        assert!(matches!(feed.pop(Duration::ZERO), Fed::Nothing));
        feed.close();
        assert!(matches!(feed.pop(Duration::ZERO), Fed::Closed));
    }

    #[test]
    fn an_ephemeral_turn_waits_for_its_watcher_and_drops_nothing() {
        let feed = Feed::new(true);
        feed.push(event("a"), UNSHOWN_BYTES, 0);
        feed.push(event("b"), 2 * SHARE_BYTES, 0);
        assert!(feed.is_full());
        assert!(matches!(feed.pop(Duration::ZERO), Fed::Batch(..)));
        assert!(matches!(feed.pop(Duration::ZERO), Fed::Batch(..)));
        assert!(!feed.is_full());
        feed.push(event("c"), UNSHOWN_BYTES, 0);
        feed.drop_all();
        assert!(!feed.is_full(), "nobody will come");
    }
}
