//! A disk that fails once, at any of its calls; and failures of our own. No turn is done without a receipt.

use std::io::{self, Read};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rejoin_core::{ConversationId, ConversationInfo, Envelope, Event, FailureClass, Outcome, Record};
use rejoin_journal::{
    Adopted, Append, Blobs, Changes, Cursor, Entry, JournalError, JournalFiles, JournalState, Logs, Mark,
    MemoryStore, Page, PageToken, Problem, RawRecord, Store, Waker, Writer,
};

use super::scripted::Place;
use crate::{Helper, TurnError};

/// A store that refuses the n-th of its writes and syncs, and no other.
struct Failing {
    store: MemoryStore,
    calls: Arc<AtomicUsize>,
    nth: usize,
}

struct FailingEnd {
    end: Box<dyn Append>,
    calls: Arc<AtomicUsize>,
    nth: usize,
}

impl FailingEnd {
    fn call(&self) -> Result<(), JournalError> {
        if self.calls.fetch_add(1, Ordering::SeqCst) + 1 != self.nth {
            return Ok(());
        }
        let cause = io::Error::from(io::ErrorKind::StorageFull);
        Err(JournalError::Append { path: "journal".into(), kept: 0, records: 1, cause })
    }
}

impl Append for FailingEnd {
    fn append(&mut self, records: &[Record]) -> Result<u64, JournalError> {
        self.call()?;
        self.end.append(records)
    }
    fn position(&self) -> Option<u64> {
        self.end.position()
    }
    fn seal(&mut self) -> Result<bool, JournalError> {
        self.end.seal()
    }
    fn sync(&mut self) -> Result<(), JournalError> {
        self.call()?;
        self.end.sync()
    }
}

impl Failing {
    fn failing(&self, end: Box<dyn Append>) -> FailingEnd {
        FailingEnd { end, calls: Arc::clone(&self.calls), nth: self.nth }
    }
}

impl Store for Failing {
    fn create(
        &self,
        id: ConversationId,
        info: &ConversationInfo,
        first: &[Record],
        writer: Writer,
    ) -> Result<Box<dyn Append>, JournalError> {
        let nowhere = self.failing(MemoryStore::new().create(id, info, &[], Writer::Label)?);
        // Written and synced before it is there.
        nowhere.call()?;
        nowhere.call()?;
        Ok(Box::new(self.failing(self.store.create(id, info, first, writer)?)))
    }
    fn appender(&self, id: ConversationId, writer: Writer) -> Result<Box<dyn Append>, JournalError> {
        Ok(Box::new(self.failing(self.store.appender(id, writer)?)))
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

fn place(nth: usize) -> (Place, Arc<AtomicUsize>) {
    let calls = Arc::new(AtomicUsize::new(0));
    let store = Failing { store: MemoryStore::new(), calls: Arc::clone(&calls), nth };
    (Place::on(Arc::new(store)), calls)
}

#[test]
fn whatever_write_fails_a_turn_is_done_only_with_a_receipt_on_the_disk() {
    let script = "echo call 1; echo result 1; echo warn careful; echo say hello; echo end";
    for nth in 1.. {
        let (place, calls) = place(nth);
        let ran = place.run(script);
        let failed = calls.load(Ordering::SeqCst) >= nth;
        let told_as_done = ran.events.iter().any(|event| matches!(event, Event::Result { .. }));
        assert_eq!(told_as_done, ran.result.is_ok(), "call {nth}");
        match &ran.result {
            Ok(_) => {
                assert!(!failed, "call {nth} failed and nobody said so");
                assert_eq!(place.receipt().map(|receipt| receipt.outcome), Some(Outcome::Completed));
                // Write and sync at the beginning and at the end, and something between.
                assert!(nth >= 6, "{nth}");
                return;
            }
            Err(error) => {
                assert!(failed, "call {nth}: {error}");
                assert!(error.to_string().contains("free some space"), "{error}");
                // Two calls are made before the agent is launched: then there is nothing to tell of.
                if let TurnError::Unrecorded { .. } = error {
                    assert!(error.to_string().contains("the prompt is kept"), "{error}");
                } else {
                    assert!(nth <= 2, "call {nth}: {error}");
                }
            }
        }
    }
}

#[test]
fn what_could_not_be_written_is_not_shown() {
    // The first two calls belong to the prompt.
    let (place, _) = place(3);
    let ran = place.run("echo call 1; echo say hello; echo end");
    assert!(matches!(ran.result, Err(TurnError::Unrecorded { .. })));
    assert!(!ran.events.iter().any(|event| matches!(event, Event::ToolUse { .. })), "{:?}", ran.events);
}

#[test]
fn a_supervisor_that_cannot_be_started_leaves_receipt_and_result() {
    let mut place = Place::new();
    place.helper = Helper::Executable("/dev/null/rejoin".into());
    failed_by_ourselves(&place, "echo end", "cannot start the supervisor");
}

#[test]
fn a_scratch_directory_that_cannot_be_made_leaves_receipt_and_result() {
    failed_by_ourselves(&Place::new(), "echo UNWRITABLE; echo end", "create the directory /dev/null");
}

#[track_caller]
fn failed_by_ourselves(place: &Place, script: &str, words: &str) {
    let ran = place.run(script);
    let Outcome::Failed { class: FailureClass::Internal, message } = ran.outcome() else {
        panic!("{:?}", ran.outcome());
    };
    assert!(message.contains(words), "{message}");
    assert_eq!(place.receipt().unwrap().outcome, *ran.outcome());
    let last = ran.events.last();
    assert!(
        matches!(last, Some(Event::Result { receipt, .. }) if receipt.outcome == *ran.outcome()),
        "{last:?}"
    );
}
