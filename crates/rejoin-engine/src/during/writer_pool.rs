//! The threads that write the journals of all turns of an engine.
//!
//! A turn's notes wait in its mailbox, in order, and are carried out by one thread at a time. There are
//! as many threads as mailboxes have something to do, up to a limit, and none when no turn runs; a turn
//! itself never waits for the disk, so it can be stopped while the disk stands still.

use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The most threads of one engine.
const MOST_THREADS: usize = 32;
/// A thread that has had nothing to do for so long goes, while others are there.
const IDLE: Duration = Duration::from_secs(2);
/// Mailboxes are looked at again in turns that lie so far apart: many of them by one thread that was woken once.
const TURNS: Duration = Duration::from_millis(25);
/// So much is carried out of one mailbox before others get their turn.
const SHARE_BYTES: usize = 4 << 20;

/// Carries out the notes of one mailbox.
pub(crate) trait Keeper: Send {
    /// What is put into the mailbox.
    type Note: Send;

    /// Carries out the next notes: at least one of `notes`, which is never empty.
    fn carry_out(&mut self, notes: &mut VecDeque<Self::Note>);

    /// Some time has passed.
    fn tick(&mut self);

    /// It panicked: nothing more will be carried out.
    fn lost(&self);
}

/// The threads, shared by all turns of an engine.
pub(crate) struct WriterPool<K: Keeper>(Arc<Pool<K>>);

impl<K: Keeper> Clone for WriterPool<K> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

struct Pool<K: Keeper> {
    state: Mutex<PoolState<K>>,
    work: Condvar,
    begun: Instant,
}

struct PoolState<K: Keeper> {
    /// Those that have something to do.
    ready: VecDeque<Arc<Mailbox<K>>>,
    /// When those that are open want to be looked at again.
    due: BTreeMap<(Instant, u64), Arc<Mailbox<K>>>,
    /// How many mailboxes are open, and the number of the next one.
    open: usize,
    next: u64,
    threads: usize,
    idle: usize,
    /// Until when one of those that are idle waits for the next that is due; the others need not wake for it.
    on_time: Option<Instant>,
    /// One of them was called to look after what is due.
    called: bool,
}

struct Mailbox<K: Keeper> {
    number: u64,
    every: Duration,
    state: Mutex<MailState<K>>,
    keeper: Mutex<Option<K>>,
    closed: Condvar,
}

#[allow(clippy::struct_excessive_bools, reason = "each is a question of its own")]
struct MailState<K: Keeper> {
    notes: VecDeque<(K::Note, usize)>,
    bytes: usize,
    /// A thread carries it out, or will.
    scheduled: bool,
    /// It wanted to be looked at by now.
    due: bool,
    /// Nothing more is put in.
    closing: bool,
    /// Everything was carried out.
    done: bool,
}

/// The end of a mailbox that is put into. Dropping it waits until everything in it was carried out.
pub(crate) struct Sender<K: Keeper + 'static> {
    pool: WriterPool<K>,
    mailbox: Arc<Mailbox<K>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<K: Keeper + 'static> Default for WriterPool<K> {
    fn default() -> Self {
        let state = PoolState {
            ready: VecDeque::new(),
            due: BTreeMap::new(),
            open: 0,
            next: 0,
            threads: 0,
            idle: 0,
            on_time: None,
            called: false,
        };
        Self(Arc::new(Pool { state: Mutex::new(state), work: Condvar::new(), begun: Instant::now() }))
    }
}

impl<K: Keeper + 'static> WriterPool<K> {
    /// Opens a mailbox whose notes wait until it has a keeper. It is refused if there is no thread to
    /// carry them out, and none can be had.
    pub(crate) fn open(&self, every: Duration) -> std::io::Result<Sender<K>> {
        let mut state = lock(&self.0.state);
        state.open += 1;
        state.next += 1;
        let number = state.next;
        if state.idle == 0
            && let Err(error) = self.grow(&mut state)
            && state.threads == 0
        {
            state.open -= 1;
            return Err(error);
        }
        let mail = MailState {
            notes: VecDeque::new(),
            bytes: 0,
            scheduled: false,
            due: false,
            closing: false,
            done: false,
        };
        let mailbox = Mailbox {
            number,
            every,
            state: Mutex::new(mail),
            keeper: Mutex::new(None),
            closed: Condvar::new(),
        };
        Ok(Sender { pool: self.clone(), mailbox: Arc::new(mailbox) })
    }

    /// How many threads there are.
    #[cfg(test)]
    pub(crate) fn threads(&self) -> usize {
        lock(&self.0.state).threads
    }

    fn grow(&self, state: &mut PoolState<K>) -> std::io::Result<()> {
        if state.threads >= MOST_THREADS {
            return Ok(());
        }
        let pool = self.clone();
        std::thread::Builder::new().name("rejoin-journal".into()).spawn(move || pool.work())?;
        state.threads += 1;
        Ok(())
    }

    fn schedule(&self, mailbox: &Arc<Mailbox<K>>) {
        let mut state = lock(&self.0.state);
        state.ready.push_back(Arc::clone(mailbox));
        if state.idle == 0 {
            // Whoever is there does it later, if the system has no more threads for us.
            let _ = self.grow(&mut state);
        }
        drop(state);
        self.0.work.notify_one();
    }

    /// A thread of the pool.
    fn work(&self) {
        let mut idle_since = Instant::now();
        let mut state = lock(&self.0.state);
        loop {
            if let Some(mailbox) = state.ready.pop_front() {
                // It may take long: somebody else looks after what is ready, or will be.
                let alone = state.on_time.is_none() && state.idle > 0 && !state.called;
                state.called |= alone;
                drop(state);
                if alone {
                    self.0.work.notify_one();
                }
                self.carry_out(&mailbox);
                idle_since = Instant::now();
                state = lock(&self.0.state);
                continue;
            }
            let now = Instant::now();
            let first = state.due.first_key_value().map(|((when, _), _)| *when);
            if first.is_some_and(|when| when <= now) {
                if let Some((_, mailbox)) = state.due.pop_first() {
                    let mut mail = lock(&mailbox.state);
                    mail.due = true;
                    let ready = !mail.done && !std::mem::replace(&mut mail.scheduled, true);
                    drop(mail);
                    if ready {
                        state.ready.push_back(mailbox);
                    }
                }
                continue;
            }
            if state.open == 0 || (state.idle > 0 && idle_since.elapsed() >= IDLE) {
                state.threads -= 1;
                self.0.work.notify_all();
                return;
            }
            state.idle += 1;
            let first = first.filter(|first| state.on_time.is_none_or(|when| *first < when));
            state.on_time = first.or(state.on_time);
            let patience = first.map_or(IDLE, |when| when.saturating_duration_since(now)).min(IDLE);
            state = self.0.work.wait_timeout(state, patience).unwrap_or_else(PoisonError::into_inner).0;
            state.idle -= 1;
            state.called = false;
            if first.is_some() && state.on_time == first {
                state.on_time = None;
            }
        }
    }

    fn carry_out(&self, mailbox: &Arc<Mailbox<K>>) {
        let mut keeper = lock(&mailbox.keeper);
        let mut done_bytes = 0;
        loop {
            let mut notes = VecDeque::new();
            let is_due = {
                let mut mail = lock(&mailbox.state);
                while let Some((note, bytes)) = mail.notes.pop_front() {
                    mail.bytes -= bytes;
                    done_bytes += bytes;
                    notes.push_back(note);
                    if done_bytes >= SHARE_BYTES {
                        break;
                    }
                }
                let is_due = std::mem::take(&mut mail.due);
                if notes.is_empty() && (mail.closing || !is_due) {
                    mail.scheduled = false;
                    mail.done = mail.closing;
                    if mail.done {
                        *keeper = None;
                        mailbox.closed.notify_all();
                    }
                    return;
                }
                is_due
            };
            let kept = catch_unwind(AssertUnwindSafe(|| {
                if let Some(keeper) = keeper.as_mut() {
                    while !notes.is_empty() {
                        keeper.carry_out(&mut notes);
                    }
                    if is_due {
                        keeper.tick();
                    }
                }
            }));
            if kept.is_err()
                && let Some(keeper) = keeper.take()
            {
                keeper.lost();
            }
            if is_due {
                self.look_again(mailbox);
            }
            if done_bytes >= SHARE_BYTES {
                // Still scheduled: others first.
                self.schedule(mailbox);
                return;
            }
        }
    }

    /// Lets a mailbox be looked at again within its time.
    fn look_again(&self, mailbox: &Arc<Mailbox<K>>) {
        let when = Instant::now() + mailbox.every;
        let past = when.saturating_duration_since(self.0.begun).as_nanos() % TURNS.as_nanos();
        let early = Duration::from_nanos(u64::try_from(past).unwrap_or_default()).min(mailbox.every / 4);
        let when = when.checked_sub(early).unwrap_or(when);
        let mut state = lock(&self.0.state);
        let is_next = state.due.first_key_value().is_none_or(|((first, _), _)| when < *first);
        state.due.insert((when, mailbox.number), Arc::clone(mailbox));
        if is_next {
            self.0.work.notify_one();
        }
    }
}

impl<K: Keeper + 'static> Sender<K> {
    /// From now on notes are carried out.
    pub(crate) fn keep(&self, keeper: K) {
        *lock(&self.mailbox.keeper) = Some(keeper);
        self.pool.look_again(&self.mailbox);
    }

    /// Puts a note in.
    pub(crate) fn push(&self, note: K::Note, bytes: usize) {
        self.push_for_later(note, bytes, 0);
    }

    /// Puts a note in that may wait until the mailbox is looked at again, unless more than `most` bytes wait then.
    pub(crate) fn push_for_later(&self, note: K::Note, bytes: usize, most: usize) {
        let schedule = {
            let mut mail = lock(&self.mailbox.state);
            mail.bytes += bytes;
            mail.notes.push_back((note, bytes));
            mail.bytes >= most && !std::mem::replace(&mut mail.scheduled, true)
        };
        if schedule {
            self.pool.schedule(&self.mailbox);
        }
    }

    /// How much waits in it.
    pub(crate) fn bytes(&self) -> usize {
        lock(&self.mailbox.state).bytes
    }
}

impl<K: Keeper + 'static> Drop for Sender<K> {
    fn drop(&mut self) {
        let mut mail = lock(&self.mailbox.state);
        mail.closing = true;
        if !std::mem::replace(&mut mail.scheduled, true) {
            drop(mail);
            self.pool.schedule(&self.mailbox);
            mail = lock(&self.mailbox.state);
        }
        while !mail.done {
            mail = self.mailbox.closed.wait(mail).unwrap_or_else(PoisonError::into_inner);
        }
        drop(mail);
        let mut state = lock(&self.pool.0.state);
        state.open -= 1;
        state.due.retain(|(_, number), _| *number != self.mailbox.number);
        if state.open == 0 {
            self.pool.0.work.notify_all();
        }
    }
}
