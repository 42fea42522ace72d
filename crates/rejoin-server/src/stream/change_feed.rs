//! That something happened in any conversation: one thread looks for all who want to know, while there are some.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rejoin::Rejoin;
use rejoin_core::{ConversationId, Envelope, Kind, System};
use rejoin_journal::{Changes, JournalError, Mark, Store, Waker};
use serde::Serialize;
use serde_json::json;
use tokio::sync::broadcast;

use super::frame::Frame;
use crate::problem::{Code, Problem};

/// Of one conversation is told at most once in this time.
const PAUSE: Duration = Duration::from_millis(250);
/// How long is waited for the next change before looking whether anybody still wants to know.
const WAIT: Duration = Duration::from_secs(1);
/// So many may wait for somebody who is slow; then he is told that there were many.
const MOST_WAITING: usize = 256;
/// Of what was written since the last look, at most so much is looked into.
const LOOKED_INTO: u64 = 1 << 20;
const STACK: usize = 512 << 10;

/// What became of a conversation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum What {
    New,
    Renamed,
    Running,
    Asks,
    Idle,
    Written,
    Removed,
}

/// A change, ready to be sent.
#[derive(Clone)]
pub(crate) struct Changed {
    pub(crate) conversation: ConversationId,
    pub(crate) frame: Frame,
}

/// What is told of all conversations.
pub(crate) struct ChangeFeed(Arc<Shared>);

struct Shared {
    listeners: AtomicUsize,
    told: broadcast::Sender<Changed>,
    /// The thread is there.
    running: Mutex<bool>,
}

/// Somebody who wants to know.
pub(crate) struct Listener {
    shared: Arc<Shared>,
    told: broadcast::Receiver<Changed>,
}

impl Default for ChangeFeed {
    fn default() -> Self {
        let told = broadcast::Sender::new(MOST_WAITING);
        Self(Arc::new(Shared { listeners: AtomicUsize::new(0), told, running: Mutex::new(false) }))
    }
}

impl ChangeFeed {
    /// Tells of all changes from now on: whoever then looks at the conversations misses nothing. Waits for the disk.
    pub(crate) fn listen(&self, rejoin: &Arc<Rejoin>) -> Result<Listener, Problem> {
        self.0.listeners.fetch_add(1, Ordering::AcqRel);
        let listener = Listener { shared: Arc::clone(&self.0), told: self.0.told.subscribe() };
        let mut running = self.0.running.lock().unwrap_or_else(PoisonError::into_inner);
        if !*running {
            let seen = rejoin.store().changes(&Mark::BEGINNING)?;
            let (shared, rejoin) = (Arc::clone(&self.0), Arc::clone(rejoin));
            let thread = std::thread::Builder::new().name("changes".into()).stack_size(STACK);
            thread.spawn(move || shared.tell(rejoin.store(), &seen)).map_err(|error| {
                Problem::new(Code::TooMany, format!("no thread can be started to look for changes: {error}"))
                    .hint("close some streams, or allow the daemon more threads")
            })?;
            *running = true;
        }
        Ok(listener)
    }

    /// Whether anybody wants to know.
    pub(crate) fn is_watched(&self) -> bool {
        self.0.listeners.load(Ordering::Acquire) > 0
    }
}

impl Listener {
    /// The next change; one without a conversation if there were too many. `None` if no more can come.
    pub(crate) async fn next(&mut self) -> Option<Result<Changed, Frame>> {
        match self.told.recv().await {
            Ok(changed) => Some(Ok(changed)),
            Err(broadcast::error::RecvError::Lagged(_)) => {
                Some(Err(Frame::of_stream(None, "change", json!({ "what": ["many"] }))))
            }
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.shared.listeners.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Shared {
    /// Tells what changes since all was seen.
    fn tell(&self, store: &dyn Store, seen: &Changes) {
        let mut known = Known(sizes(seen).collect());
        let mut mark = seen.mark;
        let waker = Waker::new();
        loop {
            match store.await_changes(&mark, WAIT, &waker) {
                Ok(changes) => {
                    mark = changes.mark;
                    for changed in known.take_in(store, &changes) {
                        // Nobody may be there to be told.
                        let _ = self.told.send(changed);
                    }
                }
                Err(error) => tracing::warn!(%error, "cannot look for changes"),
            }
            std::thread::sleep(PAUSE);
            let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
            if self.listeners.load(Ordering::Acquire) == 0 {
                *running = false;
                return;
            }
        }
    }
}

/// How far each journal was looked at.
struct Known(HashMap<ConversationId, u64>);

fn sizes(changes: &Changes) -> impl Iterator<Item = (ConversationId, u64)> {
    changes.written.iter().map(|state| (state.id, state.bytes))
}

impl Known {
    /// What changed since the last time.
    fn take_in(&mut self, store: &dyn Store, changes: &Changes) -> Vec<Changed> {
        let known = &mut self.0;
        let mut gone = changes.removed.clone();
        if changes.whole {
            let all: HashMap<_, _> = sizes(changes).collect();
            gone.extend(known.keys().filter(|id| !all.contains_key(id)));
        }
        let mut told = Vec::new();
        for (id, bytes) in sizes(changes) {
            let before = known.insert(id, bytes);
            if before != Some(bytes) {
                told.push(look(store, id, before, bytes));
            }
        }
        for id in gone {
            if known.remove(&id).is_some() {
                told.push(changed(id, &BTreeSet::from([What::Removed]), None));
            }
        }
        told
    }
}

/// What became of a conversation, by what was written since it had so many bytes.
fn look(store: &dyn Store, id: ConversationId, before: Option<u64>, bytes: u64) -> Changed {
    let mut what: BTreeSet<What> = before.is_none().then_some(What::New).into_iter().collect();
    let (mut name, mut state) = (None, None);
    let from = before.unwrap_or_default().min(bytes);
    let from = if bytes - from > LOOKED_INTO { bytes - LOOKED_INTO } else { from };
    let read: Result<u64, JournalError> = store.read(id, from, &mut |entry| {
        let Ok(envelope) = entry.content else { return };
        if let Some(System::Title { name: new }) =
            envelope.system().filter(|_| envelope.subtype.as_deref() == Some("title"))
        {
            what.insert(What::Renamed);
            name = Some(new);
        }
        state = state_after(&envelope).or(state);
    });
    if let Err(error) = read {
        tracing::debug!(%error, conversation = %id, "cannot look at what was written");
    }
    what.extend(state);
    if what.is_empty() {
        what.insert(What::Written);
    }
    changed(id, &what, name.as_deref())
}

/// How a conversation stands after a record, if that tells.
fn state_after(envelope: &Envelope<'_>) -> Option<What> {
    match (envelope.kind, envelope.subtype.as_deref()) {
        (Kind::User | Kind::Assistant | Kind::ToolResult, _)
        | (Kind::System, Some("intent" | "question_answered" | "question_withdrawn")) => Some(What::Running),
        (Kind::System, Some("question")) => Some(What::Asks),
        (Kind::System, Some("receipt")) => Some(What::Idle),
        _ => None,
    }
}

fn changed(conversation: ConversationId, what: &BTreeSet<What>, name: Option<&str>) -> Changed {
    let mut data = json!({ "what": what });
    if let Some(name) = name {
        data["name"] = name.into();
    }
    Changed { conversation, frame: Frame::of_stream(Some(conversation), "change", data) }
}
