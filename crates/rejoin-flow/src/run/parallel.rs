//! Steps that run at once.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::record::{Ended, Key, State};
use super::stop::Stop;
use super::walk::Walk;
use crate::FlowError;
use crate::model::{Failure, Parallel, Strategy};

impl Walk<'_> {
    pub(super) fn parallel(&self, key: &Key, group: &Parallel, halt: &Stop) -> Result<Ended, FlowError> {
        let own_halt = halt.part();
        let next = AtomicUsize::new(0);
        // No more steps are begun.
        let closed = AtomicBool::new(false);
        let trouble: Mutex<Option<FlowError>> = Mutex::new(None);
        let ends: Mutex<Vec<Ended>> = Mutex::new(Vec::new());
        let work = || {
            while let Some(step) = group.steps.get(next.fetch_add(1, Ordering::SeqCst)) {
                let result = if closed.load(Ordering::SeqCst) {
                    let skipped = Ended::new(&Key::of(&step.name), State::Skipped);
                    self.result(&skipped.key)
                        .filter(Ended::is_final)
                        .map_or_else(|| self.ends(step, skipped), Ok)
                } else {
                    self.step(step, &own_halt)
                };
                match result {
                    Ok(ended) => {
                        let enough = match group.strategy {
                            Strategy::All => ended.stops(),
                            Strategy::Any => ended.state == State::Done,
                            Strategy::BestEffort => false,
                        };
                        if enough && !closed.swap(true, Ordering::SeqCst) && group.strategy == Strategy::Any {
                            own_halt.request();
                        }
                        ends.lock().unwrap_or_else(PoisonError::into_inner).push(ended);
                    }
                    Err(error) => {
                        closed.store(true, Ordering::SeqCst);
                        own_halt.request();
                        trouble.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                    }
                }
            }
        };
        std::thread::scope(|threads| {
            for _ in 0..group.max_concurrent.min(group.steps.len()) {
                threads.spawn(work);
            }
        });
        if let Some(error) = trouble.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error);
        }
        let ends = ends.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(judged(key, group.strategy, &ends, halt.requested()))
    }
}

/// What the ends of all mean for the whole.
fn judged(key: &Key, strategy: Strategy, ends: &[Ended], stopped: bool) -> Ended {
    let failed = ends.iter().find(|ended| ended.state == State::Failed && ended.stops());
    let done = ends.iter().any(|ended| ended.state == State::Done);
    match strategy {
        Strategy::Any if done => Ended::new(key, State::Done),
        _ if stopped => Ended::new(key, State::Cancelled),
        Strategy::All if failed.is_none() => Ended::new(key, State::Done),
        Strategy::BestEffort => Ended::new(key, State::Done),
        Strategy::All | Strategy::Any => {
            let why = failed.map(|one| format!("{}: {}", one.key, one.error.clone().unwrap_or_default()));
            let why = why.unwrap_or_else(|| "none of the steps succeeded".into());
            let failure = failed.and_then(|one| one.failure).unwrap_or(Failure::Refused);
            let code = failed.map_or(1, |one| one.code);
            Ended { code, ..Ended::failed(key, failure, why) }
        }
    }
}
