//! Where events go: down into the journal and out to whoever watches. Neither a slow disk nor a
//! slow watcher makes an event drop, and neither keeps the engine from stopping an agent in time.

use std::collections::VecDeque;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use rejoin_core::{Event, Record, System};
use rejoin_journal::JournalError;

use crate::queue::{Popped, Queue};
use crate::scribe::Scribe;

/// Events read in one go.
pub(crate) type Batch = Arc<Vec<Event>>;

/// What waits for the disk, and for the watcher.
const JOURNAL_BYTES: usize = 4 << 20;
const WATCHER_BYTES: usize = 1 << 20;

enum Note {
    Events(Batch),
    System(Box<System>),
    NextRun,
    /// Write these, wait for the disk, say so.
    Synced(Vec<Record>, Sender<()>),
}

/// The engine's outgoing mail.
pub(crate) struct Desk {
    watcher: Queue<Batch>,
    journal: Option<Journal>,
    /// Gathered since the last [`Desk::flush`].
    fresh: Vec<Event>,
    fresh_bytes: usize,
    /// What the watcher had no room for.
    waiting: VecDeque<(Batch, usize)>,
}

struct Journal {
    queue: Queue<Note>,
    error: Arc<Mutex<Option<JournalError>>>,
    thread: Option<JoinHandle<()>>,
}

impl Desk {
    /// A desk with or without a journal (`--ephemeral`), and the watcher's end of it.
    pub(crate) fn new(scribe: Option<Scribe>) -> (Self, Queue<Batch>) {
        let watcher = Queue::new(WATCHER_BYTES);
        let desk = Self {
            watcher: watcher.clone(),
            journal: scribe.map(Journal::start),
            fresh: Vec::new(),
            fresh_bytes: 0,
            waiting: VecDeque::new(),
        };
        (desk, watcher)
    }

    /// Takes in an event.
    pub(crate) fn emit(&mut self, event: Event) {
        self.fresh_bytes += weight(&event);
        self.fresh.push(event);
    }

    /// Sends off what was gathered.
    pub(crate) fn flush(&mut self) {
        if !self.fresh.is_empty() {
            let batch = Arc::new(std::mem::take(&mut self.fresh));
            let bytes = std::mem::take(&mut self.fresh_bytes);
            if let Some(journal) = &self.journal {
                journal.queue.push(Note::Events(Arc::clone(&batch)), bytes);
            }
            self.waiting.push_back((batch, bytes));
        }
        while let Some((batch, bytes)) = self.waiting.pop_front() {
            if let Err(batch) = self.watcher.try_push(batch, bytes) {
                self.waiting.push_front((batch, bytes));
                break;
            }
        }
    }

    /// The watcher has more than it can take: do not read on.
    pub(crate) fn is_full(&self) -> bool {
        !self.waiting.is_empty()
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

    /// Writes records behind everything emitted so far and waits until they are on the disk.
    pub(crate) fn write_synced(&mut self, records: Vec<Record>) -> Result<(), JournalError> {
        self.flush();
        if let Some(journal) = &self.journal {
            let (done, wait) = channel();
            journal.queue.push(Note::Synced(records, done), 1024);
            let _ = wait.recv();
        }
        self.trouble().map_or(Ok(()), Err)
    }

    /// Whether the journal could be written so far. An error is handed out once and then remembered
    /// by whoever asked.
    pub(crate) fn trouble(&self) -> Option<JournalError> {
        let journal = self.journal.as_ref()?;
        journal.error.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The journal can no longer be written.
    pub(crate) fn is_broken(&self) -> bool {
        let error = self.journal.as_ref().map(|journal| &journal.error);
        error.is_some_and(|error| error.lock().unwrap_or_else(PoisonError::into_inner).is_some())
    }

    /// Nothing more comes: delivers what is left, however long the watcher takes.
    pub(crate) fn close(mut self) {
        self.flush();
        for (batch, bytes) in std::mem::take(&mut self.waiting) {
            self.watcher.push(batch, bytes);
        }
        self.watcher.close();
        if let Some(journal) = &mut self.journal {
            journal.stop();
        }
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        self.watcher.close();
        if let Some(journal) = &mut self.journal {
            journal.stop();
        }
    }
}

impl Journal {
    fn start(scribe: Scribe) -> Self {
        let queue = Queue::new(JOURNAL_BYTES);
        let error = Arc::new(Mutex::new(None));
        let thread = {
            let (queue, error) = (queue.clone(), Arc::clone(&error));
            std::thread::spawn(move || keep(scribe, &queue, &error))
        };
        Self { queue, error, thread: Some(thread) }
    }

    fn stop(&mut self) {
        self.queue.close();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The journal's thread. After an error it writes nothing more, but still takes everything in.
fn keep(mut scribe: Scribe, queue: &Queue<Note>, error: &Mutex<Option<JournalError>>) {
    let mut broken = false;
    loop {
        let result = match queue.pop(scribe.patience()) {
            Popped::Closed => return,
            _ if broken => continue,
            Popped::Nothing => scribe.flush(),
            Popped::Item(Note::Events(batch)) => batch.iter().try_for_each(|event| scribe.note(event)),
            Popped::Item(Note::System(system)) => scribe.put(&system),
            Popped::Item(Note::NextRun) => {
                scribe.next_run();
                Ok(())
            }
            Popped::Item(Note::Synced(records, _done)) => scribe.put_synced(&records),
        };
        if let Err(trouble) = result {
            broken = true;
            *error.lock().unwrap_or_else(PoisonError::into_inner) = Some(trouble);
        }
    }
}

fn weight(event: &Event) -> usize {
    let text = match event {
        Event::TextDelta { text, .. }
        | Event::Message { text, .. }
        | Event::Thinking { text, .. }
        | Event::ToolResult { output: text, .. }
        | Event::Diagnostic { text, .. } => text.len(),
        _ => 256,
    };
    text + 128
}
