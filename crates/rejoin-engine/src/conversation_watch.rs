//! What anybody does in a conversation, as events: what was, and then what comes.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use rejoin_core::{ConversationId, Event, Told, TurnId};
use rejoin_journal::{Cursor, JournalError, Waker, open_turns_begin};

use crate::retelling::{Retelling, RetoldRecord};
use crate::{Engine, TurnError};

/// Records are read until this many wait to be told, or this many bytes of them.
const AT_ONCE: usize = 256;
const BYTES_AT_ONCE: u64 = 64 << 10;

/// Watches a conversation, whichever process writes it. It never ends by itself: turns end, and others may follow.
///
/// Each turn is told as those were told who watched it where it ran, and what the user said before it; of its text,
/// pieces come gathered, and what its agent wrote to standard error is not kept. Changes of the conversation itself are
/// told as well. A journal that is not any more what was read of it is an error ([`JournalError::Diverged`]), after which nothing more comes.
pub struct ConversationWatch {
    retelling: Retelling,
    /// What stands before that was told to somebody else.
    begin: u64,
    /// How far it was told, to be recognised.
    cursor: Cursor,
    waiting: VecDeque<WatchedEvents>,
    waker: Waker,
    over: bool,
}

/// What one record of the journal tells: all of it or nothing, so that there is a cursor behind it.
#[derive(Clone, PartialEq, Debug)]
pub struct WatchedEvents {
    /// The turn it is about; none where the conversation itself was changed.
    pub turn: Option<TurnId>,
    /// What it tells, at least one thing.
    pub told: Vec<Told>,
    /// When it was written, for display.
    pub time: String,
    place: u64,
    end: u64,
}

impl WatchedEvents {
    /// What happened in the turn: all but prompts and changes of the conversation.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.told.iter().filter_map(|told| match told {
            Told::Event(event) => Some(event),
            Told::Prompt(_) | Told::Changed(_) => None,
        })
    }

    /// Where in the journal all stands that was told up to here; it grows.
    pub fn position(&self) -> u64 {
        self.end
    }
}

/// What came of waiting for events of a conversation.
#[derive(Debug)]
pub enum NextEvents {
    /// Some came.
    Events(WatchedEvents),
    /// None came in that time.
    Nothing,
    /// There are no more: it was [stopped](ConversationWatch::stopper), or there was an error before.
    Over,
}

impl Engine {
    /// Watches a conversation from its beginning, or from where somebody stopped who kept a cursor.
    pub fn watch(
        &self,
        conversation: ConversationId,
        after: Option<Cursor>,
    ) -> Result<ConversationWatch, TurnError> {
        let cursor = after.unwrap_or(Cursor::BEGINNING);
        let begin = self.store.place(conversation, &cursor)?;
        // A turn that is told in part is understood by its first records.
        let from = open_turns_begin(self.store.as_ref(), conversation, begin)?;
        Ok(ConversationWatch {
            retelling: Retelling::new(Arc::clone(&self.store), conversation, from),
            begin,
            cursor,
            waiting: VecDeque::new(),
            waker: Waker::new(),
            over: false,
        })
    }
}

impl ConversationWatch {
    /// The next events, waiting for them no longer than `limit`.
    pub fn next_within(&mut self, limit: Duration) -> Result<NextEvents, JournalError> {
        if let Some(events) = self.waiting.pop_front() {
            return Ok(NextEvents::Events(events));
        }
        if self.over {
            return Ok(NextEvents::Over);
        }
        // What was told to somebody else is passed over first.
        let told_before = self.retelling.at() < self.begin;
        let mut read = self.read(if told_before { Duration::ZERO } else { limit });
        if told_before && read.is_ok() && self.waiting.is_empty() {
            read = self.read(limit);
        }
        if let Err(error) = read {
            self.over = true;
            return Err(error);
        }
        self.over = self.waker.is_woken();
        match self.waiting.pop_front() {
            Some(events) => Ok(NextEvents::Events(events)),
            None if self.over => Ok(NextEvents::Over),
            None => Ok(NextEvents::Nothing),
        }
    }

    fn read(&mut self, limit: Duration) -> Result<(), JournalError> {
        let Self { retelling, begin, waiting, .. } = self;
        let mut bytes = 0;
        self.cursor = retelling.tell_on(&self.cursor, limit, &self.waker, &mut |record| {
            let RetoldRecord { place, end, time, turn, told } = record;
            if place >= *begin && !told.is_empty() {
                bytes += end.saturating_sub(place);
                waiting.push_back(WatchedEvents { turn, told, time, place, end });
            }
            if waiting.len() >= AT_ONCE || bytes >= BYTES_AT_ONCE {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })?;
        Ok(())
    }

    /// Where to go on behind some events: a watch that begins there tells exactly what comes after them.
    pub fn cursor_behind(&self, events: &WatchedEvents) -> Result<Cursor, JournalError> {
        self.retelling.cursor(events.end)
    }

    /// Up to where all was handed out, also what tells nothing.
    pub fn position(&self) -> u64 {
        let read = self.retelling.at().max(self.begin);
        self.waiting.front().map_or(read, |next| next.place)
    }

    /// What ends the watch, from any thread.
    pub fn stopper(&self) -> Waker {
        self.waker.clone()
    }
}

impl Iterator for ConversationWatch {
    type Item = Result<WatchedEvents, JournalError>;

    /// Waits for the next events.
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.next_within(Duration::from_mins(1)) {
                Ok(NextEvents::Events(events)) => return Some(Ok(events)),
                Ok(NextEvents::Nothing) => {}
                Ok(NextEvents::Over) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
    }
}
