//! Whether this process has room for one more turn: each takes some descriptors, and one that finds none
//! in the middle of its work would fail there. It is refused beforehand instead.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::TurnError;

/// What a turn takes at most at one time: three streams, the supervisor's socket, its own wake-up, its
/// journal, its leases, and what it opens for a moment.
const DESCRIPTORS: u64 = 12;

/// What is left for everything else in the process.
const RESERVED: u64 = 64;

/// The turns of an engine that are on their way.
#[derive(Clone, Default)]
pub(crate) struct Room(Arc<AtomicUsize>);

/// The place of one turn, given back when it is dropped.
pub(crate) struct Place(Arc<AtomicUsize>);

impl Room {
    /// A place for one more turn.
    pub(crate) fn take(&self) -> Result<Place, TurnError> {
        let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        self.take_within(limit)
    }

    fn take_within(&self, limit: Option<u64>) -> Result<Place, TurnError> {
        let running = self.0.fetch_add(1, Ordering::SeqCst) as u64;
        let place = Place(Arc::clone(&self.0));
        match limit {
            Some(limit) if (running + 1) * DESCRIPTORS + RESERVED > limit => {
                Err(TurnError::TooMany { running: running as usize, limit })
            }
            _ => Ok(place),
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_turns_are_let_in_as_there_are_descriptors_for_and_places_come_back() {
        let room = Room::default();
        let limit = Some(RESERVED + 2 * DESCRIPTORS);
        let first = room.take_within(limit).unwrap();
        let _second = room.take_within(limit).unwrap();
        let refused = room.take_within(limit).err().unwrap();
        assert!(matches!(refused, TurnError::TooMany { running: 2, .. }), "{refused}");
        drop(first);
        assert!(room.take_within(limit).is_ok());
        assert!(room.take_within(None).is_ok(), "without a limit there is always room");
    }
}
