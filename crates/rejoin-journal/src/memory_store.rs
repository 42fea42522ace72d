use std::collections::HashMap;
use std::io::{self, Read};
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use crate::blobs::MemoryBlobs;
use crate::changes::ChangeLog;

use rejoin_core::{ConversationId, ConversationInfo, Envelope, Record};

use crate::append::write_lines;
use crate::lines::Lines;
use crate::logs::MemoryLogs;
use crate::scan::{Scanned, scan};
use crate::{
    Adopted, Append, BeforeAdopting, Blobs, Changes, Cursor, Divergence, Entry, JournalError, JournalFiles,
    JournalHead, JournalState, LONGEST_LINE, Logs, Mark, Page, PageToken, Problem, RawRecord, Store, Waker,
    Writer, digest, random_access,
};

/// Journals that end with the process: for turns that leave no trace, and for tests. It keeps the
/// very bytes a file would hold, and its clones share them.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore {
    journals: Arc<Mutex<HashMap<ConversationId, Journal>>>,
    following: Arc<Following>,
    blobs: Arc<MemoryBlobs>,
    logs: Arc<MemoryLogs>,
}

/// For those who follow.
#[derive(Debug, Default)]
struct Following {
    /// Those who wait.
    wakers: Mutex<Vec<Waker>>,
    log: Mutex<ChangeLog>,
    /// How many journals were put in place.
    journals: AtomicU64,
}

/// Somebody who waits, until this is dropped.
struct Waiting<'a>(&'a Following, &'a Waker);

impl Following {
    fn wakers(&self) -> MutexGuard<'_, Vec<Waker>> {
        self.wakers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&'a self, waker: &'a Waker) -> Waiting<'a> {
        self.wakers().push(waker.clone());
        Waiting(self, waker)
    }

    fn stir(&self) {
        self.wakers().iter().for_each(Waker::stir);
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut wakers = self.0.wakers();
        if let Some(at) = wakers.iter().position(|waker| waker.is(self.1)) {
            wakers.swap_remove(at);
        }
    }
}

#[derive(Clone, Debug)]
struct Journal {
    /// Readers hold on to what was there when they began.
    bytes: Arc<Vec<u8>>,
    modified: SystemTime,
    /// Tells it from another one that took its place.
    number: u64,
}

impl Journal {
    fn is_sealed(&self) -> bool {
        self.bytes.last().is_none_or(|last| *last == b'\n')
    }
}

const PLACE: &str = "memory";

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    fn journals(&self) -> MutexGuard<'_, HashMap<ConversationId, Journal>> {
        self.journals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, journals: &mut HashMap<ConversationId, Journal>, id: ConversationId, bytes: Vec<u8>) {
        let number = self.following.journals.fetch_add(1, Ordering::Relaxed) + 1;
        journals.insert(id, Journal { bytes: Arc::new(bytes), modified: SystemTime::now(), number });
        self.following.stir();
    }

    /// A journal as it stands.
    fn journal(&self, id: ConversationId) -> Result<Journal, JournalError> {
        self.journals().get(&id).cloned().ok_or(JournalError::NotFound { id, place: PLACE.into() })
    }

    /// The conversations of a project, or all, newest first.
    fn heads(&self, project: Option<&str>) -> Vec<(JournalState, Option<ConversationInfo>)> {
        let journals = self.journals().clone();
        let written = journals.into_iter().filter(|(_, journal)| !journal.bytes.is_empty());
        let mut heads: Vec<_> = written
            .map(|(id, journal)| {
                let source = || io::Cursor::new(journal.bytes.as_slice());
                let info = random_access::info(source()).map(|mut info| {
                    random_access::follow_moves(source(), &mut info);
                    info
                });
                let (modified, bytes) = (journal.modified, journal.bytes.len() as u64);
                (JournalState { id, modified, bytes, file: journal.number }, info)
            })
            .filter(|(_, info)| match (project, info) {
                (Some(project), Some(info)) => info.project == project,
                _ => true,
            })
            .collect();
        heads.sort_unstable_by(|(a, _), (b, _)| b.modified.cmp(&a.modified).then(a.id.cmp(&b.id)));
        heads
    }

    fn bytes(&self, id: ConversationId) -> Result<Arc<Vec<u8>>, JournalError> {
        let journals = self.journals();
        let journal = journals.get(&id).ok_or(JournalError::NotFound { id, place: PLACE.into() })?;
        Ok(Arc::clone(&journal.bytes))
    }
}

/// Memory does not fail to be read.
fn unreadable(cause: io::Error) -> JournalError {
    JournalError::Io { what: "read", path: PLACE.into(), cause }
}

impl Store for MemoryStore {
    fn create(
        &self,
        id: ConversationId,
        _info: &ConversationInfo,
        first: &[Record],
        writer: Writer,
    ) -> Result<Box<dyn Append>, JournalError> {
        writer.check(id)?;
        let mut lines = Vec::new();
        write_lines(first, &mut lines)?;
        lines.remove(0);
        let mut journals = self.journals();
        if journals.contains_key(&id) {
            return Err(JournalError::Exists { id });
        }
        let position = Some(lines.len() as u64);
        self.put(&mut journals, id, lines);
        drop(journals);
        Ok(Box::new(MemoryAppender {
            store: self.clone(),
            id,
            buffer: Vec::new(),
            writer,
            position,
            foreign: Vec::new(),
        }))
    }

    fn appender(&self, id: ConversationId, writer: Writer) -> Result<Box<dyn Append>, JournalError> {
        writer.check(id)?;
        self.bytes(id)?;
        let (position, foreign) = (None, Vec::new());
        Ok(Box::new(MemoryAppender {
            store: self.clone(),
            id,
            buffer: Vec::new(),
            writer,
            position,
            foreign,
        }))
    }

    fn read(
        &self,
        id: ConversationId,
        from: u64,
        each: &mut dyn FnMut(Entry<'_>),
    ) -> Result<u64, JournalError> {
        let bytes = self.bytes(id)?;
        let length = bytes.len() as u64;
        if from > length {
            return Err(JournalError::Shrunk { place: PLACE.into(), cursor: from, length });
        }
        let mut lines = Lines::new(io::Cursor::new(bytes.as_slice()), LONGEST_LINE);
        let before = (from == 0).then_some(0);
        let all = &mut |entry: Entry<'_>| {
            each(entry);
            ControlFlow::Continue(())
        };
        let Scanned { end, tail } = scan(&mut lines, from, before, all).map_err(unreadable)?;
        if let Some(tail) = tail {
            let content = Err(Problem::Torn { bytes: tail.bytes });
            each(Entry { place: end, end, line: tail.line, json: "", content, limits: tail.limits });
        }
        Ok(end)
    }

    fn tail(
        &self,
        id: ConversationId,
        from: u64,
        timeout: Duration,
        waker: &Waker,
        each: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> Result<u64, JournalError> {
        let until = Instant::now().checked_add(timeout);
        let _waiting = self.following.wait(waker);
        let mut from = from;
        let mut stood: Option<(u64, Cursor)> = None;
        loop {
            let stirs = waker.stirs();
            let diverged = |why| JournalError::Diverged { id, why };
            let Journal { bytes, number, .. } = self.journal(id)?;
            let source = || io::Cursor::new(bytes.as_slice());
            let length = bytes.len() as u64;
            if length < from {
                return Err(diverged(Divergence::Shorter { position: from, length }));
            }
            if let Some((_, cursor)) = stood.filter(|(before, _)| *before != number) {
                digest::place_of(source(), id, &cursor).map_err(unreadable)?.map_err(diverged)?;
            }
            let mut any = false;
            let mut lines = Lines::new(source(), LONGEST_LINE);
            let scanned = scan(&mut lines, from, (from == 0).then_some(0), &mut |entry| {
                any = true;
                each(entry)
            });
            from = scanned.map_err(unreadable)?.end;
            let left = until.map_or(Duration::MAX, |until| until.saturating_duration_since(Instant::now()));
            if any || left.is_zero() || waker.is_woken() {
                return Ok(from);
            }
            let cursor = digest::cursor_at(source(), id, from).map_err(unreadable)?.map_err(diverged)?;
            stood = Some((number, cursor));
            // Else each append had to copy what we hold.
            drop(bytes);
            waker.wait(stirs, left);
        }
    }

    fn changes(&self, since: &Mark) -> Result<Changes, JournalError> {
        let mut log = self.following.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.see_all(&self.look(None)?);
        Ok(log.since(since))
    }

    fn await_changes(&self, since: &Mark, timeout: Duration, waker: &Waker) -> Result<Changes, JournalError> {
        let until = Instant::now().checked_add(timeout);
        let _waiting = self.following.wait(waker);
        loop {
            let stirs = waker.stirs();
            let changes = self.changes(since)?;
            let left = until.map_or(Duration::MAX, |until| until.saturating_duration_since(Instant::now()));
            if !changes.is_empty() || left.is_zero() || waker.is_woken() {
                return Ok(changes);
            }
            waker.wait(stirs, left);
        }
    }

    fn cursor(&self, id: ConversationId, place: u64) -> Result<Cursor, JournalError> {
        if place == 0 {
            return Ok(Cursor::BEGINNING);
        }
        let bytes = self.bytes(id)?;
        let cursor = digest::cursor_at(io::Cursor::new(bytes.as_slice()), id, place);
        cursor.map_err(unreadable)?.map_err(|why| JournalError::Diverged { id, why })
    }

    fn place(&self, id: ConversationId, cursor: &Cursor) -> Result<u64, JournalError> {
        if *cursor == Cursor::BEGINNING {
            return Ok(0);
        }
        let bytes = self.bytes(id)?;
        let place = digest::place_of(io::Cursor::new(bytes.as_slice()), id, cursor);
        place.map_err(unreadable)?.map_err(|why| JournalError::Diverged { id, why })
    }

    fn fetch(
        &self,
        id: ConversationId,
        places: &[u64],
        each: &mut dyn FnMut(u64, Result<RawRecord<'_>, Problem>),
    ) -> Result<(), JournalError> {
        random_access::fetch(io::Cursor::new(self.bytes(id)?.as_slice()), places, each).map_err(unreadable)
    }

    fn search(
        &self,
        id: ConversationId,
        text: &str,
        each: &mut dyn FnMut(RawRecord<'_>) -> ControlFlow<()>,
    ) -> Result<(), JournalError> {
        random_access::search(io::Cursor::new(self.bytes(id)?.as_slice()), text, each).map_err(unreadable)
    }

    fn read_back(
        &self,
        id: ConversationId,
        each: &mut dyn FnMut(&Envelope<'_>) -> ControlFlow<()>,
    ) -> Result<(), JournalError> {
        random_access::read_back(io::Cursor::new(self.bytes(id)?.as_slice()), each).map_err(unreadable)
    }

    fn adopt(
        &self,
        id: ConversationId,
        _info: &ConversationInfo,
        bytes: &mut dyn Read,
        before: BeforeAdopting<'_>,
    ) -> Result<Adopted, JournalError> {
        let mut theirs = Vec::new();
        bytes.read_to_end(&mut theirs).map_err(unreadable)?;
        let mut journals = self.journals();
        let ours = journals.get(&id).map(|journal| Arc::clone(&journal.bytes));
        let adopted = match ours {
            None => Adopted::New,
            Some(ours) if ours.starts_with(&theirs) => return Ok(Adopted::Known),
            Some(ours) if theirs.starts_with(&ours) => Adopted::Longer((theirs.len() - ours.len()) as u64),
            Some(_) => return Err(JournalError::Differs { id }),
        };
        before(adopted)?;
        self.put(&mut journals, id, theirs);
        Ok(adopted)
    }

    fn remove(&self, id: ConversationId) -> Result<(), JournalError> {
        self.bytes(id)?;
        self.journals().remove(&id);
        self.following.stir();
        Ok(())
    }

    fn files(&self) -> Result<&dyn JournalFiles, JournalError> {
        Ok(self)
    }

    fn ids(&self) -> Result<Vec<ConversationId>, JournalError> {
        let mut ids: Vec<_> = self.journals().keys().copied().collect();
        ids.sort_unstable();
        Ok(ids)
    }

    fn look(&self, project: Option<&str>) -> Result<Vec<JournalState>, JournalError> {
        Ok(self.heads(project).into_iter().map(|(state, _)| state).collect())
    }

    fn list_page(
        &self,
        project: Option<&str>,
        limit: usize,
        after: Option<&PageToken>,
    ) -> Result<Page, JournalError> {
        let mut heads = self.heads(project);
        heads.retain(|(state, _)| after.is_none_or(|token| token.is_before(state)));
        let more = heads.len() > limit;
        heads.truncate(limit);
        let next = heads.last().filter(|_| more).map(|(state, _)| PageToken::after(state));
        let heads = heads.into_iter().map(|(state, info)| JournalHead::new(&state, info)).collect();
        Ok(Page { heads, next })
    }

    fn blobs(&self) -> &dyn Blobs {
        &*self.blobs
    }

    fn logs(&self) -> &dyn Logs {
        &*self.logs
    }
}

impl JournalFiles for MemoryStore {
    fn raw(&self, id: ConversationId) -> Result<Box<dyn Read + Send>, JournalError> {
        Ok(Box::new(io::Cursor::new(self.bytes(id)?.to_vec())))
    }

    fn relocate(
        &self,
        id: ConversationId,
        _project: &str,
        say_so: &mut dyn FnMut() -> Result<(), JournalError>,
    ) -> Result<(), JournalError> {
        self.bytes(id)?;
        say_so()
    }
}

struct MemoryAppender {
    store: MemoryStore,
    id: ConversationId,
    writer: Writer,
    buffer: Vec<u8>,
    position: Option<u64>,
    foreign: Vec<Range<u64>>,
}

impl Append for MemoryAppender {
    fn append(&mut self, records: &[Record]) -> Result<u64, JournalError> {
        self.writer.check(self.id)?;
        write_lines(records, &mut self.buffer)?;
        let mut journals = self.store.journals();
        let not_found = JournalError::NotFound { id: self.id, place: PLACE.into() };
        let journal = journals.get_mut(&self.id).ok_or(not_found)?;
        if records.is_empty() {
            return Ok(memchr::memrchr(b'\n', &journal.bytes).map_or(0, |newline| newline as u64 + 1));
        }
        let lines = &self.buffer[usize::from(journal.is_sealed())..];
        let begin = journal.bytes.len() as u64;
        Arc::make_mut(&mut journal.bytes).extend_from_slice(lines);
        journal.modified = SystemTime::now();
        self.store.following.stir();
        let end = journal.bytes.len() as u64;
        self.foreign.extend(self.position.filter(|known| *known < begin).map(|known| known..begin));
        self.position = Some(end);
        Ok(end)
    }

    fn position(&self) -> Option<u64> {
        self.position
    }

    fn take_foreign(&mut self) -> Result<Vec<Range<u64>>, JournalError> {
        let end = self.store.bytes(self.id)?.len() as u64;
        if let Some(known) = self.position
            && known < end
        {
            self.foreign.push(known..end);
            self.position = Some(end);
        }
        Ok(std::mem::take(&mut self.foreign))
    }

    fn seal(&mut self) -> Result<bool, JournalError> {
        self.writer.check(self.id)?;
        let mut journals = self.store.journals();
        let not_found = JournalError::NotFound { id: self.id, place: PLACE.into() };
        let journal = journals.get_mut(&self.id).ok_or(not_found)?;
        let sealed = journal.is_sealed();
        if !sealed {
            Arc::make_mut(&mut journal.bytes).push(b'\n');
            self.store.following.stir();
        }
        Ok(!sealed)
    }

    fn sync(&mut self) -> Result<(), JournalError> {
        Ok(())
    }
}
