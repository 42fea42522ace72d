//! The newest of what was told about a conversation, in memory that does not grow.

use std::collections::VecDeque;

use super::frame::Frame;

/// How much is kept, but always the newest entry. There is one ring for every conversation that is watched, so it is
/// small: seconds of pieces of text. Whoever is further behind is served from the journal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) bytes: usize,
    pub(crate) entries: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { bytes: 256 << 10, entries: 4096 }
    }
}

/// One thing that was told.
#[derive(Clone, Debug)]
pub(crate) enum Entry {
    /// What a record tells. Boxed: most entries are pieces of text.
    Record(Box<Record>),
    /// What stands in no journal.
    Passing(Frame),
}

/// What a record tells, to whom.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    /// Where it ends in the journal.
    pub(crate) end: u64,
    /// As the journal tells it.
    pub(crate) whole: Frame,
    /// As it is told to those who were told all pieces before it; none if that is the same.
    pub(crate) rest: Option<Frame>,
}

impl Entry {
    /// About what it takes in memory.
    fn len(&self) -> usize {
        let frames = match self {
            Entry::Record(record) => {
                size_of::<Record>() + record.whole.len() + record.rest.as_ref().map_or(0, Frame::len)
            }
            Entry::Passing(frame) => frame.len(),
        };
        size_of::<Self>() + frames
    }
}

/// Entries by their numbers, which go on for ever.
pub(crate) struct Ring {
    bounds: Bounds,
    entries: VecDeque<Entry>,
    /// The number of the first one that is still there.
    first: u64,
    bytes: usize,
    /// Every record behind this place of the journal, as far as it was told, is still there.
    begin: u64,
}

impl Ring {
    pub(crate) fn new(begin: u64, bounds: Bounds) -> Self {
        Self { bounds, entries: VecDeque::new(), first: 0, bytes: 0, begin }
    }

    pub(crate) fn push(&mut self, entry: Entry) {
        self.bytes += entry.len();
        self.entries.push_back(entry);
        while self.entries.len() > 1
            && (self.bytes > self.bounds.bytes || self.entries.len() > self.bounds.entries)
        {
            let Some(gone) = self.entries.pop_front() else { break };
            self.bytes -= gone.len();
            self.first += 1;
            if let Entry::Record(record) = gone {
                self.begin = record.end;
            }
        }
    }

    /// Which of the places of the journal it goes back to.
    pub(crate) fn begin(&self) -> u64 {
        self.begin
    }

    pub(crate) fn first(&self) -> u64 {
        self.first
    }

    /// The number of the next entry to come.
    pub(crate) fn end(&self) -> u64 {
        self.first + self.entries.len() as u64
    }

    pub(crate) fn get(&self, number: u64) -> Option<&Entry> {
        self.entries.get(usize::try_from(number.checked_sub(self.first)?).ok()?)
    }

    /// The number of the first record behind a place, or of the next entry to come.
    pub(crate) fn behind(&self, place: u64) -> u64 {
        let told = |entry: &Entry| matches!(entry, Entry::Record(record) if record.end > place);
        self.entries.iter().position(told).map_or(self.end(), |at| self.first + at as u64)
    }
}
