//! One watched conversation: a thread that follows its journal, and what it tells to any number of readers.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rejoin::Rejoin;
use rejoin_core::{ConversationId, Event, TurnId};
use rejoin_engine::{ConversationWatch, NextEvents};
use rejoin_journal::{JournalError, load, open_turns_begin};
use tokio::sync::watch;

use super::channel::{Channel, Closed, Next, Reader, passing_text};
use super::frame::Frame;
use super::ring::Bounds;
use crate::problem::{Code, Problem};

/// It ends so long after its last reader is gone.
const LINGERS: Duration = Duration::from_millis(if cfg!(test) { 200 } else { 5000 });
/// How often it looks whether somebody is there.
const LOOKS_EVERY: Duration = Duration::from_secs(1);
/// It reads and renders: both are shallow.
const STACK: usize = 512 << 10;

/// A watched conversation.
pub(crate) struct Hub {
    conversation: ConversationId,
    channel: Mutex<Channel>,
    /// Told whenever there is something to look at; the number means nothing.
    changed: watch::Sender<u64>,
    readers: AtomicUsize,
}

impl Hub {
    /// Follows a conversation, from the beginning of the turn that runs if one does, on a thread of its own. `retire` is
    /// asked when nobody has watched for a while, and told why when it cannot go on; after a yes it is forgotten.
    pub(crate) fn start(
        rejoin: &Rejoin,
        conversation: ConversationId,
        retire: impl Fn(&Arc<Hub>, Option<&Closed>) -> bool + Send + 'static,
    ) -> Result<Arc<Self>, Problem> {
        let store = rejoin.store();
        let end = load(store, conversation)?.end;
        let begin = open_turns_begin(store, conversation, end)?;
        let mut watch = rejoin.watch(conversation, Some(store.cursor(conversation, begin)?))?;
        let hub = Arc::new(Self {
            conversation,
            channel: Mutex::new(Channel::new(conversation, begin, Bounds::default())),
            changed: watch::Sender::new(0),
            readers: AtomicUsize::new(0),
        });
        let this = Arc::clone(&hub);
        let follow = move || {
            let why = loop {
                let why = this.follow(&mut watch);
                if retire(&this, why.as_ref()) {
                    break why;
                }
            };
            this.channel().close(why.unwrap_or(Closed::Anew));
            this.notify();
        };
        let thread = std::thread::Builder::new().name("watched".into()).stack_size(STACK);
        thread.spawn(follow).map_err(|error| {
            Problem::new(Code::TooMany, format!("no thread can be started to watch it: {error}"))
                .hint("close some streams, or allow the daemon more threads")
        })?;
        Ok(hub)
    }

    /// Until nobody has watched for a while, or nothing more can be told: then why.
    fn follow(&self, watch: &mut ConversationWatch) -> Option<Closed> {
        let mut watched = Instant::now();
        // What is there already, without waiting for more.
        let mut limit = Duration::ZERO;
        loop {
            let next = watch.next_within(limit);
            limit = LOOKS_EVERY;
            match next.and_then(|next| self.take_in(watch, next)) {
                Ok(true) => {}
                Ok(false) => return Some(Closed::Anew),
                Err(error) => return Some(why_closed(&error)),
            }
            if self.is_watched() {
                watched = Instant::now();
            } else if watched.elapsed() > LINGERS {
                return None;
            }
        }
    }

    /// Takes in what came; whether more may come.
    fn take_in(&self, watch: &ConversationWatch, next: NextEvents) -> Result<bool, JournalError> {
        match next {
            NextEvents::Over => return Ok(false),
            NextEvents::Nothing => {}
            NextEvents::Events(happened) => {
                let cursor = watch.cursor_behind(&happened)?;
                let (turn, time) = (happened.turn, happened.time.as_str());
                let whole = Frame::of_record(self.conversation, turn, time, &happened.told, cursor);
                self.channel().record(turn, time, &happened.told, whole);
                self.notify();
            }
        }
        if self.channel().reached(watch.position()) {
            self.notify();
        }
        Ok(true)
    }

    /// What happens in a turn that this process runs, before it stands in the journal.
    pub(crate) fn live(&self, turn: TurnId, event: &Event) {
        if let Some((message, offset, text)) = passing_text(event)
            && self.channel().live(turn, message, offset, text)
        {
            self.notify();
        }
    }

    /// What a reader has to do next.
    pub(crate) fn next(&self, reader: &mut Reader) -> Next {
        reader.next(&self.channel())
    }

    /// Wakes whoever is to look again. To be asked for before looking.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// Whether anybody reads it.
    pub(crate) fn is_watched(&self) -> bool {
        self.readers.load(Ordering::Acquire) > 0
    }

    fn notify(&self) {
        self.changed.send_modify(|number| *number = number.wrapping_add(1));
    }

    fn channel(&self) -> MutexGuard<'_, Channel> {
        self.channel.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What an error of the journal means to those who watch it.
pub(crate) fn why_closed(error: &JournalError) -> Closed {
    match error {
        JournalError::NotFound { .. } => Closed::Gone,
        JournalError::Io { cause, .. } if cause.kind() == std::io::ErrorKind::NotFound => Closed::Gone,
        JournalError::Diverged { .. } => Closed::Anew,
        error => {
            tracing::warn!(%error, "a conversation cannot be watched any more");
            Closed::Failed
        }
    }
}

/// A hub, kept alive by somebody who reads it.
pub(crate) struct Subscription(Arc<Hub>);

impl Subscription {
    pub(crate) fn new(hub: &Arc<Hub>) -> Self {
        hub.readers.fetch_add(1, Ordering::AcqRel);
        Self(Arc::clone(hub))
    }
}

impl std::ops::Deref for Subscription {
    type Target = Hub;

    fn deref(&self) -> &Hub {
        &self.0
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.0.readers.fetch_sub(1, Ordering::AcqRel);
    }
}
