//! Following journals that are files, whoever writes them.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use rejoin_core::ConversationId;

use crate::changes::ChangeLog;
use crate::kept_open::{OpenJournal, Positioned};
use crate::lines::Lines;
use crate::notify::Notifier;
use crate::scan::scan;
use crate::{
    Changes, Cursor, Divergence, Entry, FileStore, JournalError, KeptOpen, LONGEST_LINE, Mark, Store, Waker,
    digest,
};

/// How often is looked without a notice: on network file systems none comes of what others write.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// The same for all journals at once, where the system gives notice.
const LOOK_AT_ALL_EVERY: Duration = Duration::from_secs(2);
/// So much is read at once, if it is there.
const LEAST_AT_ONCE: usize = 4 << 10;
const MOST_AT_ONCE: usize = 256 << 10;
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

impl FileStore {
    /// See [`Store::tail`] and [`Store::tail_on`]: what stands behind a place, where a cursor that is known must fit.
    #[allow(clippy::too_many_arguments, reason = "those of `Store::tail_on`")]
    pub(crate) fn follow(
        &self,
        id: ConversationId,
        from: u64,
        known: Option<&Cursor>,
        timeout: Duration,
        waker: &Waker,
        kept: &mut KeptOpen,
        each: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> Result<u64, JournalError> {
        let until = Instant::now().checked_add(timeout);
        let (mut from, mut known) = (from, known.copied());
        loop {
            let stirs = waker.stirs();
            let (journal, length) = self.find_again(id, &mut kept.journal)?;
            let cannot_read = |error: io::Error| JournalError::io("read", &journal.path)(error);
            let diverged = |why| JournalError::Diverged { id, why };
            if length < from {
                return Err(diverged(Divergence::Shorter { position: from, length }));
            }
            if journal.stood != Some((length, from)) {
                if let Some(known) = &known {
                    let fits = digest::place_of(Positioned::new(&journal.file), id, known);
                    fits.map_err(cannot_read)?.map_err(diverged)?;
                }
                let mut any = false;
                let buffer = usize::try_from(length - from).unwrap_or(MOST_AT_ONCE);
                let buffer = buffer.clamp(LEAST_AT_ONCE, MOST_AT_ONCE);
                let mut lines = Lines::with_buffer(Positioned::new(&journal.file), LONGEST_LINE, buffer);
                let scanned = scan(&mut lines, from, (from == 0).then_some(0), &mut |entry| {
                    any = true;
                    each(entry)
                });
                from = scanned.map_err(cannot_read)?.end;
                // What it has enough of may not be all.
                if !any || from == length {
                    journal.stood = Some((length, from));
                }
                if any {
                    return Ok(from);
                }
            }
            let left = until.map_or(LOOK_EVERY, |until| until.saturating_duration_since(Instant::now()));
            if left.is_zero() || waker.is_woken() {
                return Ok(from);
            }
            // Another file may take its place while we wait.
            if known.is_none_or(|known| known.position() < from) {
                known = Some(journal.cursor(id, from)?);
            }
            let watched = journal.path.parent().zip(self.following.notifier());
            let watched = watched.filter(|(directory, notifier)| notifier.watch(&Arc::from(*directory)));
            match watched {
                Some((_, notifier)) if !kept.registered.as_ref().is_some_and(|known| known.is(id, waker)) => {
                    // What was written before it was watched gave no notice.
                    kept.registered = Some(notifier.register(Some(id), waker));
                }
                _ => waker.wait(stirs, left.min(LOOK_EVERY)),
            }
        }
    }

    /// The journal that was open, or the one that has taken its place, and how long it is.
    fn find_again<'a>(
        &self,
        id: ConversationId,
        kept: &'a mut Option<OpenJournal>,
    ) -> Result<(&'a mut OpenJournal, u64), JournalError> {
        let in_place = kept.as_ref().and_then(OpenJournal::length_in_place);
        let (journal, length) = if let (Some(journal), Some(length)) = (kept.take(), in_place) {
            (journal, length)
        } else {
            let (file, path) = self.open_wherever_it_is(id)?;
            let cannot_read = JournalError::io("read", &path);
            OpenJournal::new(file, path.clone()).map_err(cannot_read)?
        };
        Ok((kept.insert(journal), length))
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
