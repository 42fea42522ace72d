//! A turn that was started: watched, answered, stopped and waited for from any thread.

use std::task::Waker;
use std::thread::JoinHandle;

use rejoin_agents::Answer;
use rejoin_core::{ConversationId, TurnId};
use rejoin_journal::{Cursor, JournalError};

use crate::during::answers::{AnswerBox, NotAnswered};
use crate::during::feed::Feed;
use crate::events::{Events, Journal};
use crate::{Canceller, TurnError, TurnOutcome};

/// A turn on its way. Dropping it lets the turn go on; the process that started it must live.
pub struct TurnHandle {
    pub(crate) turn: TurnId,
    pub(crate) journal: Option<Journal>,
    pub(crate) canceller: Canceller,
    pub(crate) answers: AnswerBox,
    pub(crate) feed: Feed,
    pub(crate) thread: Option<JoinHandle<Option<Result<TurnOutcome, TurnError>>>>,
}

impl Drop for TurnHandle {
    /// Nobody watches from here any more: an ephemeral turn need not wait for him.
    fn drop(&mut self) {
        if self.feed.take() {
            self.feed.drop_all();
        }
    }
}

impl TurnHandle {
    /// The turn.
    pub fn turn(&self) -> TurnId {
        self.turn
    }

    /// Its conversation; none for an ephemeral turn.
    pub fn conversation(&self) -> Option<ConversationId> {
        self.journal.as_ref().map(|journal| journal.conversation)
    }

    /// Where its records begin in the journal of the conversation; none for an ephemeral turn.
    pub fn cursor(&self) -> Result<Option<Cursor>, JournalError> {
        let journal = self.journal.as_ref();
        journal.map(|journal| journal.store.cursor(journal.conversation, journal.begin)).transpose()
    }

    /// Asks it to stop; a second time ends everything at once.
    pub fn cancel(&self) {
        self.canceller.cancel();
    }

    /// What stops it, for elsewhere.
    pub fn canceller(&self) -> Canceller {
        self.canceller.clone()
    }

    /// Answers a question of the agent. Whether that was taken: the first answer stands, and what was not offered
    /// is none.
    pub fn answer(&self, question: &str, answer: Answer) -> bool {
        self.answer_as(None, question, answer).is_ok()
    }

    /// The same in the name of somebody (`who`, kept in the history), and why it was not taken.
    pub fn answer_as(&self, who: Option<&str>, question: &str, answer: Answer) -> Result<(), NotAnswered> {
        self.answers.give(question, answer, who)
    }

    /// What it tells, from its first event to its last.
    pub fn events(&self) -> Events {
        Events::new(self.feed.clone(), self.journal.clone())
    }

    /// Whether it is over.
    pub fn is_over(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Whether all was told, so that [`TurnHandle::join`] returns in a moment. If not, the waker is woken when it
    /// is worth asking again.
    pub fn is_told(&self, waker: &Waker) -> bool {
        self.feed.wake_on_change(waker);
        self.feed.is_closed()
    }

    /// Waits for its end.
    pub fn join(mut self) -> Result<TurnOutcome, TurnError> {
        let thread = self.thread.take();
        drop(self);
        let result = thread.and_then(|thread| thread.join().ok().flatten());
        result.unwrap_or_else(|| Err(TurnError::panicked()))
    }
}

/// Stops a turn whose watcher panics: it is settled, and nothing is left running.
pub(crate) struct StopOnPanic(pub(crate) Canceller, pub(crate) Feed);

impl Drop for StopOnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.1.drop_all();
            self.0.cancel();
        }
    }
}
