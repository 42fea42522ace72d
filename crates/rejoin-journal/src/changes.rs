//! Which journals changed since somebody last asked.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::str::FromStr;

use rejoin_core::ConversationId;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::JournalState;

/// Up to where somebody knows of changes. Opaque; good for the store it is from, as long as that is open.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Mark {
    /// Which run of a store.
    store: u64,
    number: u64,
}

impl Mark {
    /// Nothing is known.
    pub const BEGINNING: Mark = Mark { store: 0, number: 0 };

    /// For stores: which of them (not 0), and how far.
    pub fn new(store: u64, number: u64) -> Self {
        Self { store, number }
    }
}

/// A text that is no mark.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{text:?} is no mark of changes; give one as it was handed out, or none to hear of everything")]
pub struct NotAMark {
    /// Its beginning.
    text: String,
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}-{:x}", self.store, self.number)
    }
}

impl FromStr for Mark {
    type Err = NotAMark;

    fn from_str(text: &str) -> Result<Self, NotAMark> {
        let parse = || {
            let (store, number) = text.split_once('-').filter(|_| text.len() <= 33)?;
            let number = u64::from_str_radix(number, 16).ok()?;
            let mark = Mark { store: u64::from_str_radix(store, 16).ok()?, number };
            (mark.to_string() == text).then_some(mark)
        };
        parse().ok_or_else(|| NotAMark { text: text.chars().take(40).collect() })
    }
}

impl TryFrom<String> for Mark {
    type Error = NotAMark;

    fn try_from(text: String) -> Result<Self, NotAMark> {
        text.parse()
    }
}

impl From<Mark> for String {
    fn from(mark: Mark) -> Self {
        mark.to_string()
    }
}

/// What changed since a mark.
#[derive(Clone, PartialEq, Debug)]
pub struct Changes {
    /// The journals that were added or written, newest first.
    pub written: Vec<JournalState>,
    /// Those that are gone.
    pub removed: Vec<ConversationId>,
    /// The mark was of another store, or of another run of it, or too old: these are all journals there are, and
    /// whatever is not among them is gone.
    pub whole: bool,
    /// To ask from the next time.
    pub mark: Mark,
}

impl Changes {
    /// Whether there is nothing to tell.
    pub fn is_empty(&self) -> bool {
        self.written.is_empty() && self.removed.is_empty() && !self.whole
    }
}

/// So many journals that are gone are remembered.
const MOST_REMOVED: usize = 10_000;

/// What a store has seen of its journals, compared from look to look.
#[derive(Debug)]
pub(crate) struct ChangeLog {
    store: u64,
    number: u64,
    /// What is gone for longer is forgotten.
    forgotten: u64,
    known: HashMap<ConversationId, (JournalState, u64)>,
    removed: VecDeque<(ConversationId, u64)>,
}

impl Default for ChangeLog {
    fn default() -> Self {
        // Random, and not the 0 of a mark of nothing.
        let store = Uuid::new_v4().as_u64_pair().1;
        Self { store, number: 0, forgotten: 0, known: HashMap::new(), removed: VecDeque::new() }
    }
}

impl ChangeLog {
    /// Takes in how all journals stand.
    pub(crate) fn see_all(&mut self, all: &[JournalState]) {
        let now: HashMap<ConversationId, JournalState> = all.iter().map(|state| (state.id, *state)).collect();
        let gone: Vec<_> = self.known.keys().filter(|id| !now.contains_key(id)).copied().collect();
        for id in gone {
            self.see(id, None);
        }
        for (id, state) in now {
            self.see(id, Some(state));
        }
    }

    /// Takes in how one of them stands; `None` if it is gone.
    pub(crate) fn see(&mut self, id: ConversationId, now: Option<JournalState>) {
        let Some(state) = now else {
            if self.known.remove(&id).is_some() {
                self.number += 1;
                self.removed.push_back((id, self.number));
                if self.removed.len() > MOST_REMOVED {
                    self.forgotten = self.removed.pop_front().map_or(0, |(_, number)| number);
                }
            }
            return;
        };
        if self.known.get(&id).is_some_and(|(known, _)| *known == state) {
            return;
        }
        self.number += 1;
        self.known.insert(id, (state, self.number));
        self.removed.retain(|(removed, _)| *removed != id);
    }

    pub(crate) fn since(&self, mark: &Mark) -> Changes {
        let whole = mark.store != self.store || mark.number < self.forgotten || mark.number > self.number;
        let new = |number: u64| whole || number > mark.number;
        let mut written: Vec<JournalState> =
            self.known.values().filter(|(_, number)| new(*number)).map(|(state, _)| *state).collect();
        JournalState::newest_first(&mut written);
        let removed = self.removed.iter().filter(|(_, number)| !whole && new(*number));
        let removed = removed.map(|(id, _)| *id).collect();
        Changes { written, removed, whole, mark: Mark::new(self.store, self.number) }
    }
}
