//! A store in memory with something in the way of its writes and syncs.

use std::io::Read;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::time::Duration;

use rejoin_core::{ConversationId, ConversationInfo, Envelope, Record};
use rejoin_journal::{
    Adopted, Append, Blobs, Changes, Cursor, Entry, JournalError, JournalFiles, JournalState, Logs, Mark,
    MemoryStore, Page, PageToken, Problem, RawRecord, Store, Waker, Writer,
};

/// Is called before every write and sync.
pub(super) type Hook = Arc<dyn Fn() -> Result<(), JournalError> + Send + Sync>;

/// The store.
pub(super) struct Hooked {
    pub(super) store: MemoryStore,
    pub(super) hook: Hook,
}

struct HookedEnd {
    end: Box<dyn Append>,
    hook: Hook,
}

impl Append for HookedEnd {
    fn append(&mut self, records: &[Record]) -> Result<u64, JournalError> {
        (self.hook)()?;
        self.end.append(records)
    }
    fn position(&self) -> Option<u64> {
        self.end.position()
    }
    fn take_foreign(&mut self) -> Result<Vec<Range<u64>>, JournalError> {
        self.end.take_foreign()
    }
    fn seal(&mut self) -> Result<bool, JournalError> {
        self.end.seal()
    }
    fn sync(&mut self) -> Result<(), JournalError> {
        (self.hook)()?;
        self.end.sync()
    }
}

impl Hooked {
    fn hooked(&self, end: Box<dyn Append>) -> Box<dyn Append> {
        Box::new(HookedEnd { end, hook: Arc::clone(&self.hook) })
    }
}

impl Store for Hooked {
    fn create(
        &self,
        id: ConversationId,
        info: &ConversationInfo,
        first: &[Record],
        writer: Writer,
    ) -> Result<Box<dyn Append>, JournalError> {
        // Written and synced before it is there.
        (self.hook)()?;
        (self.hook)()?;
        Ok(self.hooked(self.store.create(id, info, first, writer)?))
    }
    fn appender(&self, id: ConversationId, writer: Writer) -> Result<Box<dyn Append>, JournalError> {
        Ok(self.hooked(self.store.appender(id, writer)?))
    }
    fn read(
        &self,
        id: ConversationId,
        from: u64,
        each: &mut dyn FnMut(Entry<'_>),
    ) -> Result<u64, JournalError> {
        self.store.read(id, from, each)
    }
    fn tail(
        &self,
        id: ConversationId,
        from: u64,
        timeout: Duration,
        waker: &Waker,
        each: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> Result<u64, JournalError> {
        self.store.tail(id, from, timeout, waker, each)
    }
    fn changes(&self, since: &Mark) -> Result<Changes, JournalError> {
        self.store.changes(since)
    }
    fn await_changes(&self, since: &Mark, timeout: Duration, waker: &Waker) -> Result<Changes, JournalError> {
        self.store.await_changes(since, timeout, waker)
    }
    fn cursor(&self, id: ConversationId, place: u64) -> Result<Cursor, JournalError> {
        self.store.cursor(id, place)
    }
    fn place(&self, id: ConversationId, cursor: &Cursor) -> Result<u64, JournalError> {
        self.store.place(id, cursor)
    }
    fn fetch(
        &self,
        id: ConversationId,
        places: &[u64],
        each: &mut dyn FnMut(u64, Result<RawRecord<'_>, Problem>),
    ) -> Result<(), JournalError> {
        self.store.fetch(id, places, each)
    }
    fn search(
        &self,
        id: ConversationId,
        text: &str,
        each: &mut dyn FnMut(RawRecord<'_>) -> ControlFlow<()>,
    ) -> Result<(), JournalError> {
        self.store.search(id, text, each)
    }
    fn read_back(
        &self,
        id: ConversationId,
        each: &mut dyn FnMut(&Envelope<'_>) -> ControlFlow<()>,
    ) -> Result<(), JournalError> {
        self.store.read_back(id, each)
    }
    fn files(&self) -> Result<&dyn JournalFiles, JournalError> {
        self.store.files()
    }
    fn adopt(
        &self,
        id: ConversationId,
        info: &ConversationInfo,
        bytes: &mut dyn Read,
        before: &mut dyn FnMut(Adopted) -> Result<(), JournalError>,
    ) -> Result<Adopted, JournalError> {
        self.store.adopt(id, info, bytes, before)
    }
    fn remove(&self, id: ConversationId) -> Result<(), JournalError> {
        self.store.remove(id)
    }
    fn ids(&self) -> Result<Vec<ConversationId>, JournalError> {
        self.store.ids()
    }
    fn look(&self, project: Option<&str>) -> Result<Vec<JournalState>, JournalError> {
        self.store.look(project)
    }
    fn list_page(
        &self,
        project: Option<&str>,
        limit: usize,
        after: Option<&PageToken>,
    ) -> Result<Page, JournalError> {
        self.store.list_page(project, limit, after)
    }
    fn logs(&self) -> &dyn Logs {
        self.store.logs()
    }
    fn blobs(&self) -> &dyn Blobs {
        self.store.blobs()
    }
}
