//! Where events go: through the journal's thread to whoever watches. What must be on record before it is
//! shown is appended first; order is kept, and nothing is dropped for a slow disk or a slow watcher: the
//! engine stops reading ([`Desk::is_full`]) and can still stop an agent in time.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use rejoin_core::{Event, Record, System};
use rejoin_journal::JournalError;

use crate::queue::{Popped, Queue};
use crate::scribe::{DELAY, Scribe};
use crate::weight::weight;

/// Events read in one go.
pub(crate) type Batch = Vec<Event>;

/// What may wait for the watcher alone, and for disk and watcher together.
pub(crate) const UNSHOWN_BYTES: usize = 1 << 20;
const WAITING_BYTES: usize = 4 << 20;

/// So much is written and handed on at once, if it is there.
const AT_ONCE: usize = 256 << 10;

enum Note {
    Events(Batch, usize),
    System(Box<System>),
    NextRun,
    /// Write these, wait for the disk, say what came of it.
    Synced(Vec<Record>, Sender<Result<(), Trouble>>),
}

impl Note {
    fn is_events(&self) -> bool {
        matches!(self, Note::Events(..))
    }
}

/// Why the journal can no longer be written. Once there is one, it stays.
pub(crate) type Trouble = Arc<JournalError>;

/// The engine's outgoing mail.
pub(crate) struct Desk {
    watcher: Queue<Batch>,
    journal: Option<Journal>,
    /// Gathered since the last [`Desk::flush`].
    fresh: Batch,
    fresh_bytes: usize,
}

struct Journal {
    /// Waits for the journal: the thread is there before anything is written, or nothing is.
    begin: Option<Sender<Scribe>>,
    queue: Queue<Note>,
    trouble: Arc<Mutex<Option<Trouble>>>,
    thread: Option<JoinHandle<()>>,
}

impl Desk {
    /// A desk with or without a journal (`--ephemeral`), and the watcher's end of it. A journal is given to
    /// it before the first event ([`Desk::keep`]).
    pub(crate) fn new(keeps: bool) -> std::io::Result<(Self, Queue<Batch>)> {
        let watcher = Queue::new();
        let journal = keeps.then(|| Journal::start(watcher.clone())).transpose()?;
        let desk = Self { watcher: watcher.clone(), journal, fresh: Vec::new(), fresh_bytes: 0 };
        Ok((desk, watcher))
    }

    /// Events pass this journal before they are handed on.
    pub(crate) fn keep(&mut self, scribe: Scribe) {
        if let Some(journal) = self.journal.as_mut().and_then(|journal| journal.begin.take()) {
            let _ = journal.send(scribe);
        }
    }

    /// Takes in an event.
    pub(crate) fn emit(&mut self, event: Event) {
        self.fresh_bytes += weight(&event);
        self.fresh.push(event);
    }

    /// Sends off what was gathered.
    pub(crate) fn flush(&mut self) {
        if self.fresh.is_empty() {
            return;
        }
        let batch = std::mem::take(&mut self.fresh);
        let bytes = std::mem::take(&mut self.fresh_bytes);
        match &self.journal {
            Some(journal) => journal.queue.push(Note::Events(batch, bytes), bytes),
            None => self.watcher.push(batch, bytes),
        }
    }

    /// The disk or the watcher has more than it can take: do not read on.
    pub(crate) fn is_full(&self) -> bool {
        let unwritten = self.journal.as_ref().map_or(0, |journal| journal.queue.bytes());
        let unshown = self.watcher.bytes();
        unshown >= UNSHOWN_BYTES || unwritten + unshown >= WAITING_BYTES
    }

    /// Writes a record of rejoin's own behind everything emitted so far.
    pub(crate) fn write(&mut self, system: System) {
        self.flush();
        if let Some(journal) = &self.journal {
            journal.queue.push(Note::System(Box::new(system)), 512);
        }
    }

    /// A second run of the same turn begins.
    pub(crate) fn next_run(&mut self) {
        self.flush();
        if let Some(journal) = &self.journal {
            journal.queue.push(Note::NextRun, 0);
        }
    }

    /// Writes records behind everything emitted so far and waits until all of it is on the disk. If anything
    /// could not be written, now or before, that is the answer.
    pub(crate) fn write_synced(&mut self, records: Vec<Record>) -> Result<(), Trouble> {
        self.flush();
        let Some(journal) = &self.journal else { return Ok(()) };
        let (done, wait) = channel();
        journal.queue.push(Note::Synced(records, done), 1024);
        // No answer: the journal's thread is gone.
        wait.recv().unwrap_or_else(|_| Err(self.trouble().unwrap_or_else(thread_lost)))
    }

    /// Why the journal can no longer be written, if it cannot.
    pub(crate) fn trouble(&self) -> Option<Trouble> {
        let journal = self.journal.as_ref()?;
        lock(&journal.trouble).clone()
    }

    /// Nothing more comes: what is left is written, and handed on for the watcher to take in its own time.
    pub(crate) fn close(mut self) {
        self.flush();
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        if let Some(journal) = &mut self.journal {
            journal.begin = None;
            journal.queue.close();
            if let Some(thread) = journal.thread.take() {
                let _ = thread.join();
            }
        }
        self.watcher.close();
    }
}

impl Journal {
    fn start(watcher: Queue<Batch>) -> std::io::Result<Self> {
        let queue = Queue::new();
        let trouble = Arc::new(Mutex::new(None));
        let (notes, shared) = (queue.clone(), Arc::clone(&trouble));
        let (begin, scribe) = channel();
        let thread = std::thread::Builder::new().spawn(move || {
            if let Ok(scribe) = scribe.recv() {
                Keeper { scribe, watcher, trouble: shared }.keep(&notes);
            }
        })?;
        Ok(Self { begin: Some(begin), queue, trouble, thread: Some(thread) })
    }
}

/// The journal's thread.
struct Keeper {
    scribe: Scribe,
    watcher: Queue<Batch>,
    trouble: Arc<Mutex<Option<Trouble>>>,
}

impl Keeper {
    fn keep(&mut self, notes: &Queue<Note>) {
        loop {
            match notes.pop(DELAY) {
                Popped::Closed => {
                    let _ = self.attempt(Scribe::flush);
                    return;
                }
                Popped::Nothing => drop(self.attempt(Scribe::flush)),
                Popped::Item(Note::Events(mut batch, mut bytes)) => {
                    // What came meanwhile is written in one go: an append costs the same for little and much.
                    while bytes < AT_ONCE
                        && let Some(Note::Events(more, weight)) = notes.pop_if(Note::is_events)
                    {
                        batch.extend(more);
                        bytes += weight;
                    }
                    self.take_in(batch, bytes);
                }
                Popped::Item(Note::System(system)) => drop(self.attempt(|scribe| scribe.put(&system))),
                Popped::Item(Note::NextRun) => self.scribe.next_run(),
                Popped::Item(Note::Synced(records, done)) => {
                    let _ = done.send(self.attempt(|scribe| scribe.put_synced(&records)));
                }
            }
        }
    }

    /// Writes events down, then hands them on.
    fn take_in(&mut self, mut batch: Batch, bytes: usize) {
        let written = self.attempt(|scribe| {
            batch.iter().try_for_each(|event| scribe.note(event))?;
            if batch.iter().any(is_written_before_it_is_shown) { scribe.flush() } else { Ok(()) }
        });
        if written.is_err() {
            batch.retain(|event| !is_written_before_it_is_shown(event));
        }
        self.watcher.push(batch, bytes);
    }

    /// Tries to write. After an error nothing more is written: a record behind a missing one would tell
    /// another story.
    fn attempt(
        &mut self,
        write: impl FnOnce(&mut Scribe) -> Result<(), JournalError>,
    ) -> Result<(), Trouble> {
        if let Some(trouble) = &*lock(&self.trouble) {
            return Err(Arc::clone(trouble));
        }
        write(&mut self.scribe).map_err(|error| Arc::clone(lock(&self.trouble).insert(Arc::new(error))))
    }
}

impl Drop for Keeper {
    /// However this thread ends, the watcher must not wait for it.
    fn drop(&mut self) {
        self.watcher.close();
    }
}

/// What somebody may have acted upon must be there after `kill -9`. Text follows within a quarter of a second.
fn is_written_before_it_is_shown(event: &Event) -> bool {
    matches!(
        event,
        Event::ToolUse { .. }
            | Event::ToolResult { .. }
            | Event::Question(_)
            | Event::QuestionAnswered(_)
            | Event::QuestionWithdrawn { .. }
            | Event::Warning { .. }
    )
}

fn lock(trouble: &Mutex<Option<Trouble>>) -> MutexGuard<'_, Option<Trouble>> {
    trouble.lock().unwrap_or_else(PoisonError::into_inner)
}

fn thread_lost() -> Trouble {
    let cause = std::io::Error::other("the thread that writes it panicked, this is a bug in rejoin");
    Arc::new(JournalError::Io { what: "write", path: "the journal".into(), cause })
}
