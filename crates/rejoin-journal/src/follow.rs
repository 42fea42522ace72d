//! Following journals that are files, whoever writes them.

use std::fs::File;
use std::io::{self, Seek};
use std::ops::ControlFlow;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use rejoin_core::ConversationId;

use crate::changes::ChangeLog;
use crate::lines::Lines;
use crate::notify::{Notifier, Registered};
use crate::scan::scan;
use crate::{
    Changes, Cursor, Divergence, Entry, FileStore, JournalError, LONGEST_LINE, Mark, Store, Waker, digest,
};

/// How often is looked without a notice: on network file systems none comes of what others write.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// The same for all journals at once, where the system gives notice.
const LOOK_AT_ALL_EVERY: Duration = Duration::from_secs(2);
/// Looking at all journals may take this part of the time.
const SHARE: u32 = 20;

/// What those who follow journals of a store share.
#[derive(Debug, Default)]
pub(crate) struct Following {
    notifier: OnceLock<Option<Notifier>>,
    seen: Mutex<Seen>,
}

/// What was seen of all journals.
#[derive(Debug, Default)]
struct Seen {
    log: ChangeLog,
    /// When all were looked at, and how long it took.
    last: Option<(Instant, Duration)>,
    /// The system gives notice of each of them.
    noticed: bool,
    /// Any of them may have been written.
    any: bool,
}

impl Following {
    fn notifier(&self) -> Option<&Notifier> {
        self.notifier.get_or_init(Notifier::start).as_ref()
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A file as it stood when there was nothing more in it.
struct Stood {
    /// Kept open, so that no other file gets its number.
    _file: File,
    number: (u64, u64),
    length: u64,
    /// What lay before, should another file take its place.
    cursor: Cursor,
}

impl FileStore {
    /// See [`Store::tail`].
    pub(crate) fn follow(
        &self,
        id: ConversationId,
        from: u64,
        timeout: Duration,
        waker: &Waker,
        each: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> Result<u64, JournalError> {
        let until = Instant::now().checked_add(timeout);
        let mut from = from;
        let mut stood: Option<Stood> = None;
        let mut registered: Option<Registered<'_>> = None;
        loop {
            let stirs = waker.stirs();
            let (file, path) = self.open_wherever_it_is(id)?;
            let cannot_read = |error: io::Error| JournalError::io("read", &path)(error);
            let diverged = |why| JournalError::Diverged { id, why };
            let metadata = file.metadata().map_err(cannot_read)?;
            let (now, length) = ((metadata.dev(), metadata.ino()), metadata.len());
            if length < from {
                return Err(diverged(Divergence::Shorter { position: from, length }));
            }
            if let Some(stood) = stood.as_ref().filter(|stood| stood.number != now) {
                digest::place_of(&file, id, &stood.cursor).map_err(cannot_read)?.map_err(diverged)?;
                (&file).rewind().map_err(cannot_read)?;
            }
            if stood.as_ref().is_none_or(|stood| (stood.number, stood.length) != (now, length)) {
                let mut any = false;
                let mut lines = Lines::new(&file, LONGEST_LINE);
                let scanned = scan(&mut lines, from, (from == 0).then_some(0), &mut |entry| {
                    any = true;
                    each(entry)
                });
                from = scanned.map_err(cannot_read)?.end;
                if any {
                    return Ok(from);
                }
                let cursor = digest::cursor_at(&file, id, from).map_err(cannot_read)?.map_err(diverged)?;
                stood = Some(Stood { _file: file, number: now, length, cursor });
            }
            let left = until.map_or(LOOK_EVERY, |until| until.saturating_duration_since(Instant::now()));
            if left.is_zero() || waker.is_woken() {
                return Ok(from);
            }
            let watched = path.parent().zip(self.following.notifier());
            let watched = watched.filter(|(directory, notifier)| notifier.watch(&Arc::from(*directory)));
            match (watched, &registered) {
                (Some((_, notifier)), None) => {
                    // What was written before it was watched gave no notice.
                    registered = Some(notifier.register(Some(id), waker));
                }
                _ => waker.wait(stirs, left.min(LOOK_EVERY)),
            }
        }
    }

    /// A journal that is just being moved to another project may be seen in neither.
    fn open_wherever_it_is(
        &self,
        id: ConversationId,
    ) -> Result<(std::fs::File, std::path::PathBuf), JournalError> {
        let gone = |error: &JournalError| match error {
            JournalError::NotFound { .. } => true,
            JournalError::Io { cause, .. } => cause.kind() == io::ErrorKind::NotFound,
            _ => false,
        };
        match self.open(id) {
            Err(error) if gone(&error) => {
                std::thread::sleep(Duration::from_millis(5));
                self.open(id)
            }
            opened => opened,
        }
    }

    /// See [`Store::changes`].
    pub(crate) fn changes_now(&self, since: &Mark) -> Result<Changes, JournalError> {
        let mut seen = self.following.seen();
        self.look_at_all(&mut seen, None)?;
        Ok(seen.log.since(since))
    }

    /// See [`Store::await_changes`].
    pub(crate) fn next_changes(
        &self,
        since: &Mark,
        timeout: Duration,
        waker: &Waker,
    ) -> Result<Changes, JournalError> {
        let until = Instant::now().checked_add(timeout);
        let notifier = self.following.notifier();
        let _registered = notifier.map(|notifier| notifier.register(None, waker));
        loop {
            let stirs = waker.stirs();
            let mut seen = self.following.seen();
            self.look_again(&mut seen, notifier)?;
            let changes = seen.log.since(since);
            drop(seen);
            let left = until.map_or(LOOK_EVERY, |until| until.saturating_duration_since(Instant::now()));
            if !changes.is_empty() || left.is_zero() || waker.is_woken() {
                return Ok(changes);
            }
            waker.wait(stirs, left.min(LOOK_EVERY));
        }
    }

    /// Looks at what the system gave notice of, and from time to time at all journals.
    fn look_again(&self, seen: &mut Seen, notifier: Option<&Notifier>) -> Result<(), JournalError> {
        let noticed = notifier.filter(|_| seen.noticed);
        match noticed.map(Notifier::take_written) {
            Some(Some(written)) => {
                for id in written {
                    match self.state(id) {
                        Ok(state) => seen.log.see(id, state),
                        // There are two of them, say.
                        Err(_) => seen.any = true,
                    }
                }
            }
            Some(None) => seen.any = true,
            None => {}
        }
        let every = match noticed {
            Some(_) if seen.any => Duration::ZERO,
            Some(_) => LOOK_AT_ALL_EVERY,
            None => LOOK_EVERY,
        };
        let is_due = seen.last.is_none_or(|(when, took)| when.elapsed() >= every.max(took * SHARE));
        if is_due { self.look_at_all(seen, notifier) } else { Ok(()) }
    }

    fn look_at_all(&self, seen: &mut Seen, notifier: Option<&Notifier>) -> Result<(), JournalError> {
        let begun = Instant::now();
        if let Some(notifier) = notifier {
            // Watched before they are looked at, so that nothing is written in between unnoticed.
            let root: Arc<Path> = self.projects().into();
            let all = self.directories()?;
            seen.noticed = notifier.watch(&root) && all.iter().all(|directory| notifier.watch(directory));
        }
        seen.any = false;
        let all = self.look(None)?;
        seen.log.see_all(&all);
        seen.last = Some((begun, begun.elapsed()));
        Ok(())
    }
}
