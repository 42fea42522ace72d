//! A queue between two threads. Putting in never waits; how much stands in it is known in bytes, not by
//! count (events differ in size by six orders of magnitude), so that whoever fills it can hold back.

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
    pub(crate) fn new() -> Self {
        let state = State { items: VecDeque::new(), bytes: 0, closed: false };
        Self(Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() }))
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts an item in. A closed queue swallows it.
    pub(crate) fn push(&self, item: T, weight: usize) {
        let mut state = self.lock();
        if !state.closed {
            state.bytes += weight;
            state.items.push_back((item, weight));
            self.0.changed.notify_one();
        }
    }

    /// How much stands in it; nothing in a closed one, since nobody will hold back for it.
    pub(crate) fn bytes(&self) -> usize {
        let state = self.lock();
        if state.closed { 0 } else { state.bytes }
    }

    /// The next item, waiting for it no longer than `limit`.
    pub(crate) fn pop(&self, limit: Duration) -> Popped<T> {
        let deadline = Instant::now() + limit;
        let mut state = self.lock();
        loop {
            if let Some((item, weight)) = state.items.pop_front() {
                state.bytes -= weight;
                return Popped::Item(item);
            }
            if state.closed {
                return Popped::Closed;
            }
            let Some(left) = deadline.checked_duration_since(Instant::now()) else { return Popped::Nothing };
            state = self.0.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// The next item, if it is there already and is one of those wanted.
    pub(crate) fn pop_if(&self, wanted: impl FnOnce(&T) -> bool) -> Option<T> {
        let mut state = self.lock();
        state.items.front().filter(|(item, _)| wanted(item))?;
        let (item, weight) = state.items.pop_front()?;
        state.bytes -= weight;
        Some(item)
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
    fn what_stands_in_it_is_weighed_and_comes_out_in_order() {
        let queue = Queue::new();
        queue.push("giant", 1000);
        queue.push("small", 1);
        assert_eq!(queue.bytes(), 1001);
        assert_eq!(queue.pop_if(|item| *item == "small"), None);
        assert_eq!(queue.pop_if(|item| *item == "giant"), Some("giant"));
        assert_eq!(queue.bytes(), 1);
        queue.close();
        queue.push("late", 1);
        assert_eq!(queue.bytes(), 0, "nobody holds back for a closed one");
        assert_eq!(queue.pop(Duration::ZERO), Popped::Item("small"));
        assert_eq!(queue.pop(Duration::ZERO), Popped::Closed);
        let open = Queue::<()>::new();
        assert_eq!(open.pop(Duration::ZERO), Popped::Nothing);
    }
}
