//! Turns for programs that run on `tokio`: nothing here waits on a thread of the executor, and no thread is kept
//! for a turn only to show it.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use rejoin_agents::Answer;
use rejoin_core::{ConversationId, Event, TurnId};
use rejoin_engine::{Canceller, Events, NextEvent, NotAnswered, TurnHandle, TurnOutcome};
use tokio::task::{JoinHandle, spawn_blocking};

use crate::{Error, Rejoin, TurnRequest};

/// A turn on its way, to be awaited. Behind the feature `tokio`.
///
/// ```no_run
/// use std::sync::Arc;
///
/// use rejoin::{Agent, AsyncTurn, Event, Rejoin, TurnRequest};
///
/// # async fn example() -> Result<(), rejoin::Error> {
/// let rejoin = Arc::new(Rejoin::open()?);
/// let mut request = TurnRequest::new(".", "diagnose the bug");
/// request.agent = Some(Agent::Codex);
/// let mut turn = AsyncTurn::start(&rejoin, request).await?;
/// while let Some(event) = turn.next().await {
///     if let Event::TextDelta { text, .. } = event {
///         print!("{text}");
///     }
/// }
/// let outcome = turn.join().await?;
/// println!("{}", outcome.text());
/// # Ok(())
/// # }
/// ```
///
/// Dropping it lets the turn go on, as dropping a [`TurnHandle`] does: the process must live, and what the turn
/// told is in the journal. To end it, [`cancel`](AsyncTurn::cancel) first. An ephemeral turn has no journal: it
/// waits for whoever holds this, until that is dropped.
pub struct AsyncTurn {
    handle: TurnHandle,
    source: Source,
}

/// Where the next event comes from.
enum Source {
    Events(Events),
    /// A watcher who lagged is served from the journal, on a thread for that. Kept here, so that nobody who stops
    /// waiting takes events with him.
    Reading(JoinHandle<(Events, NextEvent)>),
    Over,
}

impl From<TurnHandle> for AsyncTurn {
    /// A turn that was started. Its events are those from the first on, if nobody else watched it before.
    fn from(handle: TurnHandle) -> Self {
        let source = Source::Events(handle.events());
        Self { handle, source }
    }
}

impl AsyncTurn {
    /// Begins a turn on a thread for that, which ends when the turn is on its way: to wait for a conversation that
    /// is in use, for the disk, for the agent's `--help` must not stop the executor.
    ///
    /// If this is dropped before it is done, the turn may begin all the same; its id is that of the request.
    pub async fn start(rejoin: &Arc<Rejoin>, request: TurnRequest) -> Result<Self, Error> {
        let rejoin = Arc::clone(rejoin);
        let started = spawn_blocking(move || rejoin.start(request)).await;
        Ok(Self::from(started.map_err(Error::executor)??))
    }

    /// The turn.
    pub fn turn(&self) -> TurnId {
        self.handle.turn()
    }

    /// Its conversation; none for an ephemeral turn.
    pub fn conversation(&self) -> Option<ConversationId> {
        self.handle.conversation()
    }

    /// The next event, in order; `None` after the last one. Whoever stops waiting for it loses none: it comes the
    /// next time.
    pub async fn next(&mut self) -> Option<Event> {
        // An agent that talks fast must not keep the executor from everything else.
        tokio::task::coop::consume_budget().await;
        poll_fn(|context| self.poll_next(context)).await
    }

    /// The same for those who poll, a `Stream` for instance.
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Event>> {
        loop {
            let next = match &mut self.source {
                Source::Over => return Poll::Ready(None),
                Source::Events(events) => events.next_ready(context.waker()),
                Source::Reading(read) => match Pin::new(read).poll(context) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(Ok((events, NextEvent::Nothing))) => {
                        self.source = Source::Events(events);
                        continue;
                    }
                    Poll::Ready(Ok((events, next))) => {
                        self.source = Source::Events(events);
                        Some(next)
                    }
                    // The runtime is shutting down.
                    Poll::Ready(Err(_)) => Some(NextEvent::Over),
                },
            };
            match next {
                Some(NextEvent::Event(event)) => return Poll::Ready(Some(*event)),
                Some(NextEvent::Nothing) => return Poll::Pending,
                Some(NextEvent::Over) => self.source = Source::Over,
                None => {
                    if let Source::Events(mut events) = std::mem::replace(&mut self.source, Source::Over) {
                        self.source = Source::Reading(spawn_blocking(move || {
                            let next = events.next_within(Duration::ZERO);
                            (events, next)
                        }));
                    }
                }
            }
        }
    }

    /// Asks it to stop; a second time ends everything at once. Its last events still come.
    pub fn cancel(&self) {
        self.handle.cancel();
    }

    /// What stops it, for elsewhere.
    pub fn canceller(&self) -> Canceller {
        self.handle.canceller()
    }

    /// Answers a question of the agent. Whether that was taken: the first answer stands, and what was not offered
    /// is none.
    pub fn answer(&self, question: &str, answer: Answer) -> bool {
        self.handle.answer(question, answer)
    }

    /// The same in the name of somebody (`who`, kept in the history), and why it was not taken.
    pub fn answer_as(&self, who: Option<&str>, question: &str, answer: Answer) -> Result<(), NotAnswered> {
        self.handle.answer_as(who, question, answer)
    }

    /// Waits for its end; events that were not taken are let go. If this is dropped before it is done, the turn
    /// goes on.
    pub async fn join(self) -> Result<TurnOutcome, Error> {
        let Self { handle, source } = self;
        // Of an ephemeral turn somebody who does not take them would keep it waiting.
        drop(source);
        poll_fn(|context| if handle.is_told(context.waker()) { Poll::Ready(()) } else { Poll::Pending })
            .await;
        // All that is left to do for it are its locks.
        Ok(spawn_blocking(move || handle.join()).await.map_err(Error::executor)??)
    }
}
