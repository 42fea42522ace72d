use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What somebody who follows a journal waits by: whoever has a clone of it can end the waiting, from any thread.
#[derive(Clone, Debug, Default)]
pub struct Waker {
    signal: Arc<Signal>,
}

#[derive(Debug, Default)]
struct Signal {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// How often there was something to look at.
    stirs: u64,
    woken: bool,
}

impl Waker {
    /// One that nobody woke.
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends the waiting of all who wait by it, now and from now on.
    pub fn wake(&self) {
        self.state().woken = true;
        self.signal.changed.notify_all();
    }

    /// Whether it was woken.
    pub fn is_woken(&self) -> bool {
        self.state().woken
    }

    /// For stores: lets those who wait by it look again.
    pub fn stir(&self) {
        self.state().stirs += 1;
        self.signal.changed.notify_all();
    }

    /// For stores: how often it was stirred, to be asked before looking.
    pub fn stirs(&self) -> u64 {
        self.state().stirs
    }

    /// For stores: waits until it was stirred more often than that, or woken, or the time is up.
    pub fn wait(&self, stirs: u64, timeout: Duration) {
        let nothing_new = |state: &mut State| state.stirs == stirs && !state.woken;
        let waited = self.signal.changed.wait_timeout_while(self.state(), timeout, nothing_new);
        drop(waited);
    }

    pub(crate) fn is(&self, other: &Waker) -> bool {
        Arc::ptr_eq(&self.signal, &other.signal)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.signal.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
