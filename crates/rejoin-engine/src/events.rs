//! What a turn tells to whoever watches it in this process.

use std::collections::{HashMap, VecDeque};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::task::Waker as TaskWaker;
use std::time::Duration;

use rejoin_core::{ConversationId, Event, MessageId, Told, TurnId};
use rejoin_journal::{JournalError, Store, Waker};

use crate::during::feed::{Fed, Feed};
use crate::retelling::Retelling;

/// The events of one turn, from its first to its last, as they happen. A watcher who is too slow is
/// served from the journal, where pieces of text stand gathered; he misses nothing and sees nothing twice.
pub struct Events {
    feed: Feed,
    source: Source,
    waiting: VecDeque<Event>,
    journal: Option<Journal>,
}

/// What came of waiting for an event.
#[derive(Debug)]
pub enum NextEvent {
    /// One came.
    Event(Box<Event>),
    /// None came in that time.
    Nothing,
    /// There are no more.
    Over,
}

/// The journal of the turn.
#[derive(Clone)]
pub(crate) struct Journal {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) conversation: ConversationId,
    pub(crate) turn: TurnId,
    /// Where the turn begins.
    pub(crate) begin: u64,
}

enum Source {
    /// As they happen.
    Live(Shown),
    Journal(Box<FromJournal>),
    Over,
}

/// What a watcher was shown.
#[derive(Default)]
struct Shown {
    /// All that stands in the journal before it.
    place: u64,
    /// How much text of each message.
    text: HashMap<MessageId, usize>,
}

impl Shown {
    fn note(&mut self, event: &Event) {
        if let Event::TextDelta { message, offset, text } | Event::Message { message, offset, text, .. } =
            event
        {
            self.text.insert(*message, offset + text.len());
        }
    }

    /// What of an event that stands at or behind `place` was not shown yet.
    fn unseen(&self, event: Event) -> Option<Event> {
        let Event::TextDelta { message, offset, text } = event else { return Some(event) };
        let shown = self.text.get(&message).copied().unwrap_or_default().saturating_sub(offset);
        if shown >= text.len() && !text.is_empty() {
            return None;
        }
        let shown = text.ceil_char_boundary(shown);
        Some(Event::TextDelta { message, offset: offset + shown, text: text[shown..].to_owned() })
    }
}

/// Reads a turn from its journal.
struct FromJournal {
    turn: TurnId,
    retelling: Retelling,
    shown: Shown,
    ended: bool,
}

/// So many events are made of a journal at once.
const AT_ONCE: usize = 256;

impl FromJournal {
    fn new(journal: Journal, shown: Shown) -> Self {
        let Journal { store, conversation, turn, begin } = journal;
        Self { turn, retelling: Retelling::new(store, conversation, begin), shown, ended: false }
    }

    fn read(&mut self, waiting: &mut VecDeque<Event>) -> Result<(), JournalError> {
        let Self { turn, retelling, shown, ended } = self;
        retelling.tell(Duration::ZERO, &Waker::default(), &mut |record| {
            if record.place < shown.place {
                return ControlFlow::Continue(());
            }
            for told in record.told.into_iter().filter(|_| record.turn == Some(*turn)) {
                let Told::Event(event) = told else { continue };
                *ended |= matches!(event, Event::Result { .. });
                waiting.extend(shown.unseen(event));
            }
            if *ended || waiting.len() >= AT_ONCE {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })
    }
}

impl Events {
    /// All events of a turn: as they happen for the first who asks, from the journal for all others.
    pub(crate) fn new(feed: Feed, journal: Option<Journal>) -> Self {
        let source = match &journal {
            _ if feed.take() => Source::Live(Shown::default()),
            Some(journal) => Source::Journal(Box::new(FromJournal::new(journal.clone(), Shown::default()))),
            None => Source::Over,
        };
        Self { feed, source, waiting: VecDeque::new(), journal }
    }

    /// The next event if it is there, without waiting for anything, the disk included. `None` if a watcher who
    /// lags has to be served from the journal, which [`Events::next_within`] reads. After
    /// [`NextEvent::Nothing`] the waker is woken when it is worth looking again.
    pub fn next_ready(&mut self, waker: &TaskWaker) -> Option<NextEvent> {
        if self.waiting.is_empty() {
            // Asked first: what comes until it is looked at is not missed.
            self.feed.wake_on_change(waker);
            while self.waiting.is_empty() && self.take_fed(Duration::ZERO) {}
        }
        match (self.waiting.pop_front(), &self.source) {
            (Some(event), _) => Some(NextEvent::Event(Box::new(event))),
            (None, Source::Over) => Some(NextEvent::Over),
            (None, Source::Live(_)) => Some(NextEvent::Nothing),
            (None, Source::Journal(from)) if !self.feed.is_beyond(from.retelling.at()) => {
                Some(NextEvent::Nothing)
            }
            (None, Source::Journal(_)) => None,
        }
    }

    /// The next event, waiting for it no longer than `limit`.
    pub fn next_within(&mut self, limit: Duration) -> NextEvent {
        if let Some(event) = self.waiting.pop_front() {
            return NextEvent::Event(Box::new(event));
        }
        match &mut self.source {
            Source::Over => return NextEvent::Over,
            Source::Live(_) => {
                if !self.take_fed(limit) {
                    return NextEvent::Nothing;
                }
            }
            Source::Journal(from) => {
                // Asked first: what is written until then is read.
                let closed = self.feed.wait_beyond(from.retelling.at(), limit);
                // A journal that cannot be read has nothing more to tell; the turn's result says why.
                let read = from.read(&mut self.waiting);
                if from.ended || read.is_err() || (closed && self.waiting.is_empty()) {
                    self.source = Source::Over;
                } else if self.waiting.is_empty() {
                    return NextEvent::Nothing;
                }
            }
        }
        self.next_within(limit)
    }

    /// Takes what comes as it happens, waiting for it no longer than `limit`; whether something came of it.
    fn take_fed(&mut self, limit: Duration) -> bool {
        let Source::Live(shown) = &mut self.source else { return false };
        match self.feed.pop(limit) {
            Fed::Nothing => return false,
            Fed::Closed => self.source = Source::Over,
            Fed::Batch(batch, place) => {
                for event in &batch {
                    shown.note(event);
                }
                shown.place = place;
                self.waiting.extend(batch);
            }
            Fed::Lagging => {
                let shown = std::mem::take(shown);
                self.source = match self.journal.clone() {
                    Some(journal) => Source::Journal(Box::new(FromJournal::new(journal, shown))),
                    None => Source::Over,
                };
            }
        }
        true
    }
}

impl Iterator for Events {
    type Item = Event;

    /// Waits for the next event.
    fn next(&mut self) -> Option<Event> {
        loop {
            match self.next_within(Duration::from_mins(1)) {
                NextEvent::Event(event) => return Some(*event),
                NextEvent::Nothing => {}
                NextEvent::Over => return None,
            }
        }
    }
}

impl Drop for Events {
    /// An ephemeral turn does not wait for somebody who left.
    fn drop(&mut self) {
        if self.journal.is_none() && matches!(self.source, Source::Live(_)) {
            self.feed.drop_all();
        }
    }
}
