use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rejoin::Canceller;

/// Stops all that is running, from any thread. A second request ends it at once.
#[derive(Clone, Default)]
pub struct Stop {
    state: Arc<Mutex<Running>>,
    /// What stops this one, too.
    above: Option<Box<Stop>>,
}

#[derive(Default)]
struct Running {
    requests: usize,
    next: u64,
    cancellers: BTreeMap<u64, Canceller>,
}

/// Something that can be stopped, until this is dropped.
pub(crate) struct Registered<'a>(Vec<(&'a Stop, u64)>);

impl Stop {
    /// Asks everything to stop.
    pub fn request(&self) {
        let mut running = self.running();
        running.requests += 1;
        for canceller in running.cancellers.values() {
            canceller.cancel();
        }
    }

    /// A part of what is running, which can be stopped alone.
    pub(crate) fn part(&self) -> Self {
        Self { state: Arc::default(), above: Some(Box::new(self.clone())) }
    }

    pub(crate) fn requested(&self) -> bool {
        self.running().requests > 0 || self.above.as_ref().is_some_and(|above| above.requested())
    }

    /// Waits that long, or until somebody asks to stop.
    pub(crate) fn sleep(&self, time: Duration) {
        const GLANCE: Duration = Duration::from_millis(50);
        let begun = Instant::now();
        while !self.requested() && begun.elapsed() < time {
            std::thread::sleep(GLANCE.min(time.saturating_sub(begun.elapsed())));
        }
    }

    pub(crate) fn register(&self, canceller: &Canceller) -> Registered<'_> {
        let mut registered = Registered(Vec::new());
        let mut stop = Some(self);
        while let Some(one) = stop {
            let mut running = one.running();
            let id = running.next;
            running.next += 1;
            running.cancellers.insert(id, canceller.clone());
            for _ in 0..running.requests {
                canceller.cancel();
            }
            drop(running);
            registered.0.push((one, id));
            stop = one.above.as_deref();
        }
        registered
    }

    fn running(&self) -> MutexGuard<'_, Running> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Registered<'_> {
    fn drop(&mut self) {
        for (stop, id) in &self.0 {
            stop.running().cancellers.remove(id);
        }
    }
}
