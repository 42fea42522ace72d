//! One conversation, told to one reader: what was, what is being streamed, and then what happens.

use std::sync::Arc;
use std::time::Duration;

use rejoin::Rejoin;
use rejoin_core::{ConversationId, TurnId};
use rejoin_journal::{Cursor, JournalError};
use serde_json::json;
use tokio::sync::mpsc;

use super::channel::{Closed, Next, Reader};
use super::frame::Frame;
use super::hub::{Subscription, why_closed};
use super::hubs::Hubs;
use super::replay::{Page, Replay};
use crate::problem::{Code, Problem};

/// Whoever takes nothing for so long is let go: its place is another's, and it can come again with its cursor.
const TAKES_WITHIN: Duration = Duration::from_mins(1);

/// For whoever takes nothing for so long the place in the journal is kept, and not what was understood of it.
const HOLDS: Duration = Duration::from_secs(5);

/// What one reader wants of one conversation.
pub(crate) struct ConversationStream {
    hubs: Hubs,
    rejoin: Arc<Rejoin>,
    conversation: ConversationId,
    /// Only this turn, to its end.
    turn: Option<TurnId>,
    /// Something of that turn was told.
    turn_begun: bool,
    out: mpsc::Sender<Frame>,
}

/// Where a reader begins.
struct Begin {
    place: u64,
    cursor: Cursor,
    /// Why not where it wanted to.
    reset: Option<String>,
    subscription: Subscription,
}

/// The stream is over: its reader is gone, or has all it wanted.
struct Over;

impl ConversationStream {
    pub(crate) fn new(
        hubs: &Hubs,
        rejoin: Arc<Rejoin>,
        conversation: ConversationId,
        out: mpsc::Sender<Frame>,
    ) -> Self {
        Self { hubs: hubs.clone(), rejoin, conversation, turn: None, turn_begun: false, out }
    }

    /// Only a turn, to its end.
    pub(crate) fn only(mut self, turn: TurnId) -> Self {
        self.turn = Some(turn);
        self
    }

    /// Tells it for ever, or until the reader is gone, the conversation is, or the turn ended. `resumed`: the reader knows
    /// what stands before `after`.
    pub(crate) async fn tell(mut self, after: Cursor, resumed: bool) {
        let (mut after, mut resumed) = (after, resumed);
        // Each time around it begins anew: with what the reader surely knows.
        while let Ok(cursor) = self.tell_on(after, resumed).await {
            (after, resumed) = (cursor, true);
        }
    }

    /// Begins and goes on until it has to begin anew: then the cursor to begin with.
    async fn tell_on(&mut self, after: Cursor, resumed: bool) -> Result<Cursor, Over> {
        let begin = match self.begin(after).await {
            Ok(begin) => begin,
            Err(problem) => {
                if problem.code() == Code::NotFound {
                    self.send(Frame::of_stream(Some(self.conversation), "gone", json!({}))).await?;
                } else {
                    tracing::warn!(conversation = %self.conversation, detail = problem.detail(), "cannot be watched");
                }
                return Err(Over);
            }
        };
        let hub = begin.subscription;
        let mut changes = hub.changes();
        let mut reader = Reader::new(begin.place, begin.cursor);
        let mut replay: Option<Replay> = None;
        self.hello(resumed && begin.reset.is_none(), begin.reset).await?;
        loop {
            changes.mark_unchanged();
            match hub.next(&mut reader) {
                Next::Tell(frame) => {
                    // What is told from memory is passed over in the journal.
                    replay = None;
                    self.send(frame).await?;
                }
                Next::Wait => tokio::select! {
                    more = changes.changed() => more.map_err(|_| Over)?,
                    () = self.out.closed() => return Err(Over),
                },
                Next::Ready(partials) => {
                    replay = None;
                    for frame in partials {
                        self.send(frame).await?;
                    }
                    let ready = json!({ "cursor": reader.cursor });
                    self.send(Frame::of_stream(Some(self.conversation), "ready", ready)).await?;
                }
                Next::Lagged => self.hello(true, None).await?,
                Next::Journal => match self.page(replay.take(), reader.cursor).await? {
                    Ok((page, read)) => {
                        replay = Some(read);
                        for frame in page.frames {
                            reader.cursor = frame.cursor.unwrap_or(reader.cursor);
                            if tokio::time::timeout(HOLDS, self.out.reserve()).await.is_err() {
                                replay = None;
                            }
                            self.send(frame).await?;
                        }
                        reader.read_to(page.place);
                    }
                    Err(why) => return self.closed(why, &reader).await,
                },
                Next::Closed(why) => return self.closed(why, &reader).await,
            }
        }
    }

    async fn begin(&self, wanted: Cursor) -> Result<Begin, Problem> {
        let (hubs, rejoin, conversation) = (self.hubs.clone(), Arc::clone(&self.rejoin), self.conversation);
        let begin = move || {
            let subscription = hubs.subscribe(&rejoin, conversation)?;
            let (place, cursor, reset) = match rejoin.store().place(conversation, &wanted) {
                Ok(place) => (place, wanted, None),
                Err(JournalError::Diverged { why, .. }) => (0, Cursor::BEGINNING, Some(why.to_string())),
                Err(error) => return Err(Problem::from(error)),
            };
            Ok(Begin { place, cursor, reset, subscription })
        };
        self.hubs.read(begin).await?
    }

    /// Reads on in the journal, or says why that cannot be.
    async fn page(
        &self,
        replay: Option<Replay>,
        cursor: Cursor,
    ) -> Result<Result<(Page, Replay), Closed>, Over> {
        let (rejoin, conversation) = (Arc::clone(&self.rejoin), self.conversation);
        let read = move || {
            let mut replay = match replay {
                Some(replay) => replay,
                None => Replay::new(conversation, rejoin.watch(conversation, Some(cursor))?),
            };
            Ok((replay.page()?, replay))
        };
        let read: Result<_, rejoin::Error> = self.hubs.read(read).await.map_err(|_| Over)?;
        Ok(read.map_err(|error| match error {
            rejoin::Error::Turn(rejoin::TurnError::Journal(error)) => why_closed(&error),
            _ => Closed::Failed,
        }))
    }

    async fn closed(&mut self, why: Closed, reader: &Reader) -> Result<Cursor, Over> {
        match why {
            Closed::Anew => Ok(reader.cursor),
            Closed::Failed => Err(Over),
            Closed::Gone => {
                self.send(Frame::of_stream(Some(self.conversation), "gone", json!({}))).await?;
                Err(Over)
            }
        }
    }

    async fn hello(&mut self, resumed: bool, reset: Option<String>) -> Result<(), Over> {
        let mut hello = json!({ "resumed": resumed });
        if let Some(why) = reset {
            hello["reset"] = why.into();
        }
        self.send(Frame::of_stream(Some(self.conversation), "hello", hello)).await
    }

    async fn send(&mut self, frame: Frame) -> Result<(), Over> {
        let mut last = false;
        if let Some(wanted) = self.turn {
            let mine = frame.turn == Some(wanted);
            if !mine && (frame.turn.is_some() || frame.cursor.is_some()) {
                // A conversation runs one turn at a time: one without an end was cut if another begins.
                return if self.turn_begun && frame.begins_turn { Err(Over) } else { Ok(()) };
            }
            self.turn_begun |= mine;
            last = mine && frame.ends_turn;
        }
        let sent = tokio::time::timeout(TAKES_WITHIN, self.out.send(frame)).await;
        if last || !matches!(sent, Ok(Ok(()))) { Err(Over) } else { Ok(()) }
    }
}
