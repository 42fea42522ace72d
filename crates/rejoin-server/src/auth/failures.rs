//! Failed attempts, which get slower and slower: those of one origin, and all together. Whoever brings the right
//! secret never waits: a stranger on this machine cannot lock its owner out by failing.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::peer::PeerGroup;

/// What an origin did wrong is forgotten after so long without a further failure.
const FORGOTTEN: Duration = Duration::from_mins(1);
/// So many are answered as what they are; then the answer is that there were too many.
const BURST: u32 = 10;
/// The first one waits so long, each further one twice as long as the one before.
const SHORTEST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(2);
/// So many wait at once; one more is turned away without waiting.
const MOST_WAITING: usize = 64;
/// So many origins are remembered.
const MOST_ORIGINS: usize = 1024;

/// Failed attempts of the last while.
pub(super) struct Failures(Mutex<State>);

struct State {
    origins: HashMap<PeerGroup, Count>,
    waiting: usize,
}

#[derive(Clone, Copy)]
struct Count {
    failures: u32,
    last: Instant,
}

/// What is to be done about a failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Verdict {
    /// Wait before it is answered.
    pub(super) wait: Duration,
    /// Whether the answer is that there were too many.
    pub(super) too_many: bool,
    /// Whether it is worth a line in the log, which a flood shall not fill.
    pub(super) log: bool,
}

impl Failures {
    pub(super) fn new() -> Self {
        Self(Mutex::new(State { origins: HashMap::new(), waiting: 0 }))
    }

    /// Notes one, and says what is to be done about it.
    pub(super) fn note(&self, origin: PeerGroup, now: Instant) -> Verdict {
        let mut state = self.state();
        let recent = |count: &Count| now.saturating_duration_since(count.last) < FORGOTTEN;
        if state.origins.len() >= MOST_ORIGINS && !state.origins.contains_key(&origin) {
            state.origins.retain(|_, count| recent(count));
            // Still full: from everywhere at once. They are all counted as one.
            if state.origins.len() >= MOST_ORIGINS {
                return Verdict { wait: LONGEST, too_many: true, log: false };
            }
        }
        let count = state.origins.entry(origin).or_insert(Count { failures: 0, last: now });
        if !recent(count) {
            count.failures = 0;
        }
        count.failures = count.failures.saturating_add(1);
        count.last = now;
        let doubled = SHORTEST.saturating_mul(1 << (count.failures - 1).min(16));
        Verdict {
            wait: doubled.min(LONGEST),
            too_many: count.failures > BURST,
            log: count.failures <= BURST || count.failures.is_power_of_two(),
        }
    }

    /// Waits, unless too many do already: then at once `false`.
    pub(super) async fn wait(&self, verdict: Verdict) -> bool {
        let Some(_place) = Place::take(self) else { return false };
        tokio::time::sleep(verdict.wait).await;
        true
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place among those who wait: given back also where the client does not wait for the answer.
struct Place<'a>(&'a Failures);

impl<'a> Place<'a> {
    fn take(failures: &'a Failures) -> Option<Self> {
        let mut state = failures.state();
        (state.waiting < MOST_WAITING).then(|| {
            state.waiting += 1;
            Self(failures)
        })
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.state().waiting -= 1;
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use super::*;

    fn origin(number: u32) -> PeerGroup {
        PeerGroup::Address(IpAddr::V4(Ipv4Addr::from(number)))
    }

    #[test]
    fn each_failure_waits_longer_up_to_a_limit_and_then_there_were_too_many() {
        let failures = Failures::new();
        let now = Instant::now();
        let told: Vec<Verdict> = (0..12).map(|_| failures.note(origin(1), now)).collect();
        assert_eq!(told[0], Verdict { wait: SHORTEST, too_many: false, log: true });
        assert!(told.windows(2).all(|two| two[1].wait == (two[0].wait * 2).min(LONGEST)));
        assert_eq!(told[9], Verdict { wait: LONGEST, too_many: false, log: true });
        assert_eq!(told[10], Verdict { wait: LONGEST, too_many: true, log: false });
        assert_eq!(failures.note(origin(2), now).wait, SHORTEST, "another origin did nothing wrong");
        assert_eq!(failures.note(origin(1), now + FORGOTTEN).wait, SHORTEST, "it is forgotten");
    }

    #[test]
    fn the_memory_is_bounded_whatever_comes_from_wherever() {
        let failures = Failures::new();
        let now = Instant::now();
        for number in 0..5000 {
            failures.note(origin(number), now);
        }
        assert_eq!(failures.state().origins.len(), MOST_ORIGINS);
        assert!(failures.note(origin(4000), now).too_many, "nobody knows how often that one was wrong");
        assert_eq!(failures.note(origin(4000), now + FORGOTTEN).wait, SHORTEST);
        assert_eq!(failures.state().origins.len(), 1);
    }

    #[tokio::test]
    async fn no_more_than_a_number_wait_at_once() {
        let failures = Failures::new();
        let held: Vec<Place<'_>> = (0..MOST_WAITING).map(|_| Place::take(&failures).unwrap()).collect();
        let verdict = Verdict { wait: Duration::ZERO, too_many: false, log: false };
        assert!(!failures.wait(verdict).await);
        drop(held);
        assert!(failures.wait(verdict).await);
        assert_eq!(failures.state().waiting, 0);
    }
}
