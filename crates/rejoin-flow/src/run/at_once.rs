//! Several things at once, but not too many.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::stop::Stop;
use crate::FlowError;

/// Does `count` things in their order, `most` at a time, until all are done or one says that it is enough: the running
/// ones end then, and those that were not begun stay `None`. Trouble with one stops all.
pub(super) fn at_once<T: Send>(
    count: usize,
    most: usize,
    halt: &Stop,
    one: impl Fn(usize) -> Result<(T, bool), FlowError> + Sync,
) -> Result<Vec<Option<T>>, FlowError> {
    let next = AtomicUsize::new(0);
    let closed = AtomicBool::new(false);
    let trouble: Mutex<Option<FlowError>> = Mutex::new(None);
    let done: Mutex<Vec<Option<T>>> = Mutex::new((0..count).map(|_| None).collect());
    let work = || {
        while !closed.load(Ordering::SeqCst) {
            let at = next.fetch_add(1, Ordering::SeqCst);
            if at >= count {
                return;
            }
            match one(at) {
                Ok((what, enough)) => {
                    done.lock().unwrap_or_else(PoisonError::into_inner)[at] = Some(what);
                    if enough {
                        closed.store(true, Ordering::SeqCst);
                    }
                }
                Err(error) => {
                    closed.store(true, Ordering::SeqCst);
                    halt.request();
                    trouble.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                }
            }
        }
    };
    std::thread::scope(|threads| {
        for already in 0..most.min(count) {
            // A system that has no more threads for us leaves it to those that are there.
            if std::thread::Builder::new().spawn_scoped(threads, work).is_err() {
                if already == 0 {
                    work();
                }
                break;
            }
        }
    });
    match trouble.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => Ok(done.into_inner().unwrap_or_else(PoisonError::into_inner)),
    }
}
