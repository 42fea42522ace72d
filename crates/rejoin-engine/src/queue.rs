//! A queue between two threads that is bounded by bytes, not by count: events differ in size by
//! six orders of magnitude.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

struct State<T> {
    items: VecDeque<(T, usize)>,
    bytes: usize,
    closed: bool,
}

struct Shared<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
    limit: usize,
}

/// What came out of a queue.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Popped<T> {
    Item(T),
    /// The time is up.
    Nothing,
    /// Nothing is in it, and nothing will be.
    Closed,
}

/// Either end of a queue.
pub(crate) struct Queue<T>(Arc<Shared<T>>);

impl<T> Clone for Queue<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Queue<T> {
    /// A queue that takes items until they weigh `limit`; an empty one takes anything.
    pub(crate) fn new(limit: usize) -> Self {
        let state = State { items: VecDeque::new(), bytes: 0, closed: false };
        Self(Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new(), limit }))
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts an item in if there is room, else gives it back. A closed queue swallows it.
    pub(crate) fn try_push(&self, item: T, weight: usize) -> Result<(), T> {
        let mut state = self.lock();
        if !state.closed && !state.items.is_empty() && state.bytes + weight > self.0.limit {
            return Err(item);
        }
        self.put(&mut state, item, weight);
        Ok(())
    }

    /// Puts an item in, waiting for room.
    pub(crate) fn push(&self, item: T, weight: usize) {
        let mut state = self.lock();
        while !state.closed && !state.items.is_empty() && state.bytes + weight > self.0.limit {
            state = self.0.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        self.put(&mut state, item, weight);
    }

    fn put(&self, state: &mut State<T>, item: T, weight: usize) {
        if !state.closed {
            state.bytes += weight;
            state.items.push_back((item, weight));
            self.0.changed.notify_all();
        }
    }

    /// The next item, waiting for it no longer than `limit`.
    pub(crate) fn pop(&self, limit: Duration) -> Popped<T> {
        let deadline = Instant::now() + limit;
        let mut state = self.lock();
        loop {
            if let Some((item, weight)) = state.items.pop_front() {
                state.bytes -= weight;
                self.0.changed.notify_all();
                return Popped::Item(item);
            }
            if state.closed {
                return Popped::Closed;
            }
            let Some(left) = deadline.checked_duration_since(Instant::now()) else { return Popped::Nothing };
            state = self.0.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Nothing more will be put in.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_gives_back_but_an_empty_one_takes_anything() {
        let queue = Queue::new(10);
        assert!(queue.try_push("giant", 1000).is_ok());
        assert_eq!(queue.try_push("small", 1), Err("small"));
        assert_eq!(queue.pop(Duration::ZERO), Popped::Item("giant"));
        assert_eq!(queue.pop(Duration::ZERO), Popped::Nothing);
        assert!(queue.try_push("small", 1).is_ok());
        queue.close();
        assert_eq!(queue.pop(Duration::ZERO), Popped::Item("small"));
        assert_eq!(queue.pop(Duration::ZERO), Popped::Closed);
    }
}
