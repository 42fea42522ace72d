//! Where events go: through the journal to whoever watches. What must be on record before it is shown is
//! appended first, and order is kept. Pieces of text need not be: unless something before them is still on its way
//! through the journal, they are handed on at once, and written down with what comes within a quarter of a second.
//! The engine waits for the journal, never for a watcher: if more than a few MiB wait for the disk it stops reading
//! ([`Outbox::is_full`]) and can still stop an agent in time.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rejoin_core::{Event, Record, System};
use rejoin_journal::JournalError;

use crate::during::feed::{Batch, Feed};
use crate::during::follow::Follow;
use crate::during::record_writer::{DELAY, RecordWriter};
use crate::during::weight::weight;
use crate::during::writer_pool::{Keeper, Sender, WriterPool};

/// What may wait for the disk.
const UNWRITTEN_BYTES: usize = 4 << 20;

/// So much is written and handed on at once, if it is there.
const AT_ONCE: usize = 256 << 10;

/// Text that was handed on already waits for the next tick of its mailbox, unless it is more than this.
const TEXT_AT_ONCE: usize = 64 << 10;

pub(crate) enum Note {
    /// To be written down and handed on.
    Events(Batch, usize),
    /// Pieces of text that were handed on, to be written down.
    Told(Batch),
    System(Box<System>),
    NextRun,
    /// Write these, wait for the disk, say what came of it.
    Synced(Vec<Record>, mpsc::Sender<Result<(), Trouble>>),
}

/// Why the journal can no longer be written. Once there is one, it stays.
pub(crate) type Trouble = Arc<JournalError>;

/// The journals' threads.
pub(crate) type JournalWriters = WriterPool<JournalKeeper>;

/// The engine's outgoing mail.
pub(crate) struct Outbox {
    feed: Feed,
    journal: Option<Journal>,
    /// Gathered since the last [`Outbox::flush`].
    fresh: Batch,
    fresh_bytes: usize,
}

struct Journal {
    mailbox: Sender<JournalKeeper>,
    /// How many [`Note::Events`] were not handed on yet.
    untold: Arc<AtomicUsize>,
    trouble: Arc<Mutex<Option<Trouble>>>,
}

impl Outbox {
    /// An outbox with a journal, which is given to it before the first event ([`Outbox::keep`]), or
    /// without one (`--ephemeral`).
    pub(crate) fn new(feed: Feed, writers: Option<&JournalWriters>) -> std::io::Result<Self> {
        let open = |writers: &JournalWriters| -> std::io::Result<Journal> {
            Ok(Journal { mailbox: writers.open(DELAY)?, untold: Arc::default(), trouble: Arc::default() })
        };
        let journal = writers.map(open).transpose()?;
        Ok(Self { feed, journal, fresh: Vec::new(), fresh_bytes: 0 })
    }

    /// Events pass this journal before they are handed on; what others ask for in it is heard.
    pub(crate) fn keep(&mut self, writer: RecordWriter, follow: Follow) {
        if let Some(journal) = &self.journal {
            let (feed, trouble) = (self.feed.clone(), Arc::clone(&journal.trouble));
            let untold = Arc::clone(&journal.untold);
            feed.reached(writer.place());
            journal.mailbox.keep(JournalKeeper { writer, feed, untold, trouble, follow });
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
        let Some(journal) = &self.journal else { return self.feed.push(batch, bytes, 0) };
        // Only this thread adds to it: what is zero here stays so until something is put in below.
        if batch.iter().all(is_gathered) && journal.untold.load(Ordering::Acquire) == 0 {
            // First of all: what stands in the journal was handed on.
            self.feed.push(batch.clone(), bytes, 0);
            journal.mailbox.push_for_later(Note::Told(batch), bytes, TEXT_AT_ONCE);
        } else {
            journal.untold.fetch_add(1, Ordering::AcqRel);
            journal.mailbox.push(Note::Events(batch, bytes), bytes);
        }
    }

    /// The disk, or the watcher of an ephemeral turn, has more than it can take: do not read on.
    pub(crate) fn is_full(&self) -> bool {
        match &self.journal {
            Some(journal) => journal.mailbox.bytes() >= UNWRITTEN_BYTES,
            None => self.feed.is_full(),
        }
    }

    /// Writes a record of rejoin's own behind everything emitted so far.
    pub(crate) fn write(&mut self, system: System) {
        self.flush();
        if let Some(journal) = &self.journal {
            journal.mailbox.push(Note::System(Box::new(system)), 512);
        }
    }

    /// A second launch for the same turn begins.
    pub(crate) fn next_run(&mut self) {
        self.flush();
        if let Some(journal) = &self.journal {
            journal.mailbox.push(Note::NextRun, 0);
        }
    }

    /// Writes records behind everything emitted so far and waits until all of it is on the disk. If anything
    /// could not be written, now or before, that is the answer.
    pub(crate) fn write_synced(&mut self, records: Vec<Record>) -> Result<(), Trouble> {
        self.flush();
        let Some(journal) = &self.journal else { return Ok(()) };
        let (done, wait) = channel();
        journal.mailbox.push(Note::Synced(records, done), 1024);
        // No answer: its keeper panicked.
        wait.recv().unwrap_or_else(|_| Err(self.trouble().unwrap_or_else(keeper_lost)))
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

impl Drop for Outbox {
    fn drop(&mut self) {
        self.journal = None;
        self.feed.close();
    }
}

/// Writes down what comes out of one outbox, and hands it on.
pub(crate) struct JournalKeeper {
    writer: RecordWriter,
    feed: Feed,
    untold: Arc<AtomicUsize>,
    trouble: Arc<Mutex<Option<Trouble>>>,
    follow: Follow,
}

impl Keeper for JournalKeeper {
    type Note = Note;

    fn carry_out(&mut self, notes: &mut VecDeque<Note>) {
        match notes.pop_front() {
            Some(Note::Events(mut batch, mut bytes)) => {
                let mut count = 1;
                // What came meanwhile is written in one go: an append costs the same for little and much.
                while bytes < AT_ONCE && matches!(notes.front(), Some(Note::Events(..))) {
                    if let Some(Note::Events(more, weight)) = notes.pop_front() {
                        batch.extend(more);
                        bytes += weight;
                        count += 1;
                    }
                }
                self.take_in(batch, bytes);
                self.untold.fetch_sub(count, Ordering::AcqRel);
            }
            Some(Note::Told(batch)) => drop(self.attempt(|writer| {
                for event in &batch {
                    writer.note(event);
                }
                writer.flush_if_due()
            })),
            Some(Note::System(system)) => drop(self.attempt(|writer| writer.put(&system))),
            Some(Note::NextRun) => self.writer.next_run(),
            Some(Note::Synced(records, done)) => {
                let _ = done.send(self.attempt(|writer| writer.put_synced(&records)));
            }
            None => {}
        }
    }

    fn tick(&mut self) {
        let _ = self.attempt(RecordWriter::flush);
        self.follow.look(&mut self.writer);
        self.feed.reached(self.writer.place());
    }

    fn lost(&self) {
        lock(&self.trouble).get_or_insert_with(keeper_lost);
        self.feed.close();
    }
}

impl JournalKeeper {
    /// Writes events down, then hands them on. Pieces of text, which are gathered, do not wait for the disk.
    fn take_in(&mut self, mut batch: Batch, bytes: usize) {
        if batch.iter().all(is_gathered) {
            let _ = self.attempt(|writer| {
                for event in &batch {
                    writer.note(event);
                }
                Ok(())
            });
            self.feed.push(batch, bytes, self.writer.place());
            let _ = self.attempt(RecordWriter::flush_if_due);
            return;
        }
        let written = self.attempt(|writer| {
            for event in &batch {
                writer.note(event);
                writer.flush_if_due()?;
            }
            writer.flush()
        });
        if written.is_err() {
            batch.retain(is_gathered);
        }
        self.feed.push(batch, bytes, self.writer.place());
    }

    /// Tries to write. After an error nothing more is written: a record behind a missing one would tell
    /// another story.
    fn attempt(
        &mut self,
        write: impl FnOnce(&mut RecordWriter) -> Result<(), JournalError>,
    ) -> Result<(), Trouble> {
        if let Some(trouble) = &*lock(&self.trouble) {
            return Err(Arc::clone(trouble));
        }
        write(&mut self.writer).map_err(|error| Arc::clone(lock(&self.trouble).insert(Arc::new(error))))
    }
}

/// What somebody may have acted upon must be there after `kill -9`. Text follows within a quarter of a second.
fn is_gathered(event: &Event) -> bool {
    matches!(event, Event::TextDelta { .. })
}

fn lock(trouble: &Mutex<Option<Trouble>>) -> MutexGuard<'_, Option<Trouble>> {
    trouble.lock().unwrap_or_else(PoisonError::into_inner)
}

fn keeper_lost() -> Trouble {
    let cause = std::io::Error::other("the thread that writes it panicked, this is a bug in rejoin");
    Arc::new(JournalError::Io { what: "write", path: "the journal".into(), cause })
}
