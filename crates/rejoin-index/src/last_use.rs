//! Which conversations were used last. Their records tell: the time of a file is that of its last
//! copy, if it was imported or restored from a backup.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rejoin_core::ConversationId;
use rejoin_journal::{JournalState, Store};

use crate::index::Index;

/// Clocks of file systems may be so far behind.
const SLACK: Duration = Duration::from_mins(1);

/// The time of the last record that is more than a label, in milliseconds since 1970.
pub(crate) fn last_use(store: &dyn Store, id: ConversationId) -> Option<i64> {
    let mut used = None;
    let _ = store.read_back(id, &mut |record| {
        let time = record.is_use().then(|| record.timestamp.parse::<jiff::Timestamp>().ok()).flatten();
        used = time.map(jiff::Timestamp::as_millisecond);
        if used.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    used
}

/// When a journal was last used: what its records say, else its file. Records of the future were
/// written by a wrong clock. In whole milliseconds, as it is told: a list goes on behind what was told.
pub(crate) fn time_of(used: Option<i64>, standing: &JournalState) -> SystemTime {
    let since = used.and_then(|used| u64::try_from(used).ok()).map(Duration::from_millis);
    let used = since.and_then(|since| UNIX_EPOCH.checked_add(since));
    used.filter(|used| *used <= SystemTime::now() + SLACK).unwrap_or_else(|| {
        let since = standing.modified.duration_since(UNIX_EPOCH).unwrap_or_default();
        UNIX_EPOCH + Duration::new(since.as_secs(), since.subsec_millis() * 1_000_000)
    })
}

/// A place in the list of all conversations: behind the one that was last used then and has this id.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ListPlace {
    /// When, in milliseconds since 1970.
    pub used_ms: u64,
    /// Which.
    pub id: ConversationId,
}

impl ListPlace {
    fn used(self) -> SystemTime {
        UNIX_EPOCH.checked_add(Duration::from_millis(self.used_ms)).unwrap_or_else(SystemTime::now)
    }

    /// Whether a conversation comes after it: used before, and among those of one time by their ids.
    pub(crate) fn is_before(self, used: SystemTime, id: ConversationId) -> bool {
        (used, self.id) < (self.used(), id)
    }
}

/// Journals, to be taken in the order of their last use. A file is hardly older than its last
/// record, so those with old files are not looked into before their turn may come.
pub(crate) struct NewestFirst {
    waiting: BinaryHeap<Candidate>,
}

/// In the order they are taken; one that was not looked into stands where it may stand at best.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    time: SystemTime,
    unseen: bool,
    id: Reverse<ConversationId>,
    place: usize,
}

impl NewestFirst {
    pub(crate) fn new(standings: &[JournalState]) -> Self {
        let candidate = |(place, standing): (usize, &JournalState)| Candidate {
            time: standing.modified.checked_add(SLACK).unwrap_or(standing.modified),
            unseen: true,
            id: Reverse(standing.id),
            place,
        };
        Self { waiting: standings.iter().enumerate().map(candidate).collect() }
    }

    /// Leaves out those that stand before a place in the list. Only files that may belong there are looked into.
    pub(crate) fn go_behind(&mut self, index: &mut Index<'_>, standings: &[JournalState], place: ListPlace) {
        let all = std::mem::take(&mut self.waiting).into_iter();
        let (before, behind): (Vec<Candidate>, Vec<Candidate>) =
            all.partition(|candidate| candidate.time >= place.used());
        self.waiting = behind.into();
        self.look_into(index, standings, before);
        self.waiting.retain(|candidate| candidate.unseen || place.is_before(candidate.time, candidate.id.0));
    }

    /// The next ones, at most `count`, each with when it was last used.
    pub(crate) fn take(
        &mut self,
        index: &mut Index<'_>,
        standings: &[JournalState],
        count: usize,
    ) -> Vec<(JournalState, SystemTime)> {
        let mut taken = Vec::new();
        // Where many must be looked into, it is done for many at once.
        let mut ahead = count;
        while taken.len() < count {
            let unseen = self.unseen(ahead);
            if !unseen.is_empty() {
                self.look_into(index, standings, unseen);
                ahead = ahead.saturating_mul(4);
            } else if let Some(next) = self.waiting.pop() {
                taken.push((standings[next.place], next.time));
            } else {
                break;
            }
        }
        taken
    }

    /// Those, at most `count`, that stand before all that were looked into.
    fn unseen(&mut self, count: usize) -> Vec<Candidate> {
        let mut unseen = Vec::new();
        while unseen.len() < count && self.waiting.peek().is_some_and(|next| next.unseen) {
            unseen.extend(self.waiting.pop());
        }
        unseen
    }

    fn look_into(&mut self, index: &mut Index<'_>, standings: &[JournalState], unseen: Vec<Candidate>) {
        let those: Vec<JournalState> = unseen.iter().map(|candidate| standings[candidate.place]).collect();
        let mut younger = false;
        for (candidate, used) in unseen.into_iter().zip(index.last_uses(&those)) {
            younger |= used > candidate.time;
            self.waiting.push(Candidate { time: used, unseen: false, ..candidate });
        }
        if younger {
            // The times of these files say nothing.
            let latest = SystemTime::now() + SLACK;
            let all = std::mem::take(&mut self.waiting).into_iter();
            let first = |one: Candidate| Candidate { time: latest.max(one.time), ..one };
            self.waiting = all.map(|one| if one.unseen { first(one) } else { one }).collect();
        }
    }
}

impl Index<'_> {
    /// When these journals were last used, from the cache or from their ends.
    fn last_uses(&mut self, standings: &[JournalState]) -> Vec<SystemTime> {
        let known = self.known(standings);
        let used = |standing: &JournalState| match known.get(&standing.id) {
            Some(known) if known.standing == *standing => known.used,
            _ => last_use(self.store, standing.id),
        };
        standings.iter().map(|standing| time_of(used(standing), standing)).collect()
    }
}
