use std::io::Read;
use std::ops::{ControlFlow, Range};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use rejoin_core::{ConversationId, ConversationInfo, Envelope, Record};

use crate::{
    Blobs, Changes, Cursor, JournalError, KeptOpen, Logs, Mark, Page, PageToken, Problem, Waker, Writer,
};

/// The longest line that is written or loaded.
pub const LONGEST_LINE: usize = 16 << 20;

/// Where journals are kept. Nothing above it may assume a file.
pub trait Store: Send + Sync {
    /// Begins a conversation with its first records and opens it for appending. It appears with all of
    /// them, on the disk, or not at all: whoever is killed on the way leaves no conversation without a
    /// beginning.
    fn create(
        &self,
        id: ConversationId,
        info: &ConversationInfo,
        first: &[Record],
        writer: Writer,
    ) -> Result<Box<dyn Append>, JournalError>;

    /// Opens a conversation for appending. Any number may be open at once; who writes for a turn says so,
    /// and is refused as [`JournalError::Fenced`] when its lease is gone.
    fn appender(&self, id: ConversationId, writer: Writer) -> Result<Box<dyn Append>, JournalError>;

    /// Reads all records from a place on (0, or what an earlier call returned), in the order of
    /// the journal, and returns the place to go on from. What is no record is handed out as a
    /// problem. That place stays before an unfinished last line: the next call looks at it again.
    fn read(
        &self,
        id: ConversationId,
        from: u64,
        each: &mut dyn FnMut(Entry<'_>),
    ) -> Result<u64, JournalError>;

    /// Hands out what stands behind a place, until `each` has enough, and returns the place to go on
    /// from. If nothing stands there it waits until something does, the time is up, or `waker` is woken:
    /// then the place is the same as before. An unfinished last line is nothing: it is handed out when it
    /// is whole, or sealed. The journal may be moved meanwhile, or replaced by one that goes on from it;
    /// one that is shorter or went another way is [`JournalError::Diverged`], and one that is deleted
    /// [`JournalError::NotFound`].
    fn tail(
        &self,
        id: ConversationId,
        from: u64,
        timeout: Duration,
        waker: &Waker,
        each: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> Result<u64, JournalError>;

    /// [`Store::tail`] for whoever calls it again and again: `kept` is its own, empty at first, and holds what need not
    /// be found anew at each call. What stood before the cursor `known` must still stand there when something is handed
    /// out, else it is [`JournalError::Diverged`]. Returns the cursor of the place to go on from.
    #[allow(clippy::too_many_arguments, reason = "those of `tail`, and what is known")]
    fn tail_on(
        &self,
        id: ConversationId,
        from: u64,
        known: &Cursor,
        timeout: Duration,
        waker: &Waker,
        _kept: &mut KeptOpen,
        each: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> Result<Cursor, JournalError> {
        self.place(id, known)?;
        let end = self.tail(id, from, timeout, waker, each)?;
        self.cursor(id, end)
    }

    /// [`Store::cursor`] of a place that [`Store::tail_on`] handed out with the same `kept`.
    fn cursor_on(&self, id: ConversationId, place: u64, _kept: &KeptOpen) -> Result<Cursor, JournalError> {
        self.cursor(id, place)
    }

    /// Which journals were added, written or removed since a mark, whoever did it. A mark of another
    /// store, or of an earlier run of it, is answered with all of them ([`Changes::whole`]).
    fn changes(&self, since: &Mark) -> Result<Changes, JournalError>;

    /// The same, waiting until there are some, the time is up, or `waker` is woken. Of a journal that
    /// is written all the time not every write is told.
    fn await_changes(&self, since: &Mark, timeout: Duration, waker: &Waker) -> Result<Changes, JournalError>;

    /// What to keep of a place, to go on from it at another time or elsewhere: 0, what [`Store::read`]
    /// or [`Append::append`] returned, or an entry's end.
    fn cursor(&self, id: ConversationId, place: u64) -> Result<Cursor, JournalError>;

    /// The place a cursor stands for. [`JournalError::Diverged`] if the journal is not any more the one
    /// it was taken of, up to there; never a guess. [`Cursor::BEGINNING`] fits without a look.
    fn place(&self, id: ConversationId, cursor: &Cursor) -> Result<u64, JournalError>;

    /// Reads the records at some places, in the order of the file.
    fn fetch(
        &self,
        id: ConversationId,
        places: &[u64],
        each: &mut dyn FnMut(u64, Result<RawRecord<'_>, Problem>),
    ) -> Result<(), JournalError>;

    /// Hands out the records whose JSON contains `text`, until `each` has enough.
    fn search(
        &self,
        id: ConversationId,
        text: &str,
        each: &mut dyn FnMut(RawRecord<'_>) -> ControlFlow<()>,
    ) -> Result<(), JournalError>;

    /// Hands out the last records, the very last first, until `each` has enough. A journal is
    /// looked back over as far as some of the longest lines go.
    fn read_back(
        &self,
        id: ConversationId,
        each: &mut dyn FnMut(&Envelope<'_>) -> ControlFlow<()>,
    ) -> Result<(), JournalError>;

    /// Takes in a conversation from another home, byte for byte; or goes on with one whose bytes
    /// are the beginning of these. All of it or nothing, and never in the place of something else.
    /// To be called under the conversation's lease. `before` is told what is about to be done, when
    /// nothing of it can be seen yet; what is known already changes nothing.
    fn adopt(
        &self,
        id: ConversationId,
        info: &ConversationInfo,
        bytes: &mut dyn Read,
        before: BeforeAdopting<'_>,
    ) -> Result<Adopted, JournalError>;

    /// Deletes a conversation, for good.
    fn remove(&self, id: ConversationId) -> Result<(), JournalError>;

    /// What only files have, where journals are files.
    fn files(&self) -> Result<&dyn JournalFiles, JournalError> {
        Err(JournalError::NotInFiles { what: "reach their files" })
    }

    /// All conversations, in no order, without looking into them.
    fn ids(&self) -> Result<Vec<ConversationId>, JournalError>;

    /// How the journals of a project stand, or all, newest first, without looking into any: names of
    /// projects may collide, so some of another one can be among them.
    fn look(&self, project: Option<&str>) -> Result<Vec<JournalState>, JournalError>;

    /// How the journal of one conversation stands; `None` if it is not there, or empty.
    fn look_at(&self, id: ConversationId) -> Result<Option<JournalState>, JournalError> {
        Ok(self.look(None)?.into_iter().find(|state| state.id == id))
    }

    /// The conversations of a project, or all, newest first: so many of them, behind those of an earlier
    /// page. Only first lines are read. No conversation comes twice; one that is written meanwhile goes to
    /// the front, where [`Store::changes`] since a mark from before the first page tells of it.
    fn list_page(
        &self,
        project: Option<&str>,
        limit: usize,
        after: Option<&PageToken>,
    ) -> Result<Page, JournalError>;

    /// All conversations of a project, or all there are, newest first.
    fn list(&self, project: Option<&str>) -> Result<Vec<JournalHead>, JournalError> {
        Ok(self.list_page(project, usize::MAX, None)?.heads)
    }

    /// Bytes by their hash.
    fn blobs(&self) -> &dyn Blobs;

    /// Logs that are no conversations.
    fn logs(&self) -> &dyn Logs;
}

/// What a store has whose journals are files, or bytes as a file would hold them.
pub trait JournalFiles {
    /// The bytes of a conversation as they stand, from the beginning.
    fn raw(&self, id: ConversationId) -> Result<Box<dyn Read + Send>, JournalError>;

    /// Puts a conversation among those of another project. What it says of itself is a record of its own,
    /// appended by `say_so`; a move that is cut off after that is finished by whoever looks at the project.
    fn relocate(
        &self,
        id: ConversationId,
        project: &str,
        say_so: &mut dyn FnMut() -> Result<(), JournalError>,
    ) -> Result<(), JournalError>;

    /// The file a conversation, of a project if that is known, is kept in, where it is one.
    fn file(&self, _id: ConversationId, _project: Option<&str>) -> Option<PathBuf> {
        None
    }

    /// The project a conversation is kept under, if `dir` lies in it: for one that lost its first
    /// record.
    fn project_around(&self, _id: ConversationId, _dir: &str) -> Option<String> {
        None
    }

    /// What [`crate::load`] made of a conversation, as it was kept to be faster the next time.
    fn cached_load(&self, _id: ConversationId) -> Option<Vec<u8>> {
        None
    }

    /// Keeps what it made: a cache, lost at any time.
    fn keep_load(&self, _id: ConversationId, _bytes: &[u8]) {}

    /// Drops what was kept.
    fn forget_load(&self, _id: ConversationId) {}
}

/// Is told what is about to be taken in, and may refuse.
pub type BeforeAdopting<'a> = &'a mut dyn FnMut(Adopted) -> Result<(), JournalError>;

/// What became of a conversation that was taken in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Adopted {
    /// It is new here.
    New,
    /// It was here, and went on elsewhere by so many bytes.
    Longer(u64),
    /// It is here already, with nothing missing.
    Known,
}

/// An open end of a journal.
pub trait Append: Send {
    /// Appends records as one piece: no other writer comes between them. When it returns, with the
    /// place behind them, other readers see them; after [`Append::sync`] they survive a loss of power
    /// as well. After an error a beginning of the batch may stand in the file: see
    /// [`JournalError::Append`]. Of an empty batch the place is behind the last whole line.
    fn append(&mut self, records: &[Record]) -> Result<u64, JournalError>;

    /// The place behind the last batch of this end, the first records of a conversation that was created
    /// with it included; `None` as long as there is none, and after a failure.
    fn position(&self) -> Option<u64>;

    /// What others appended before, between and behind the batches of this end, from its first one on and
    /// since the last call: for whoever follows the journal it writes.
    fn take_foreign(&mut self) -> Result<Vec<Range<u64>>, JournalError>;

    /// Ends an unfinished last line, if there is one; says whether there was.
    fn seal(&mut self) -> Result<bool, JournalError>;

    /// Waits until all that was appended is on the disk. After a failure nothing more can be appended
    /// or synced through this end: see [`JournalError::Unsynced`].
    fn sync(&mut self) -> Result<(), JournalError>;
}

/// What stands at one place of a journal.
#[derive(Debug)]
pub struct Entry<'a> {
    /// Where: opaque, good for [`Store::fetch`].
    pub place: u64,
    /// Where to go on behind it: good for [`Store::read`] and [`Store::cursor`]. Of an unfinished last
    /// line it is where that begins.
    pub end: u64,
    /// The line, counted from 1; known when the journal is read from its beginning.
    pub line: Option<u64>,
    /// The record's JSON; empty for a problem.
    pub json: &'a str,
    /// The record, or why there is none.
    pub content: Result<Envelope<'a>, Problem>,
    /// What stands here is no record, but may have been one that limits what agents may do.
    pub limits: bool,
}

/// A record as it stands in the journal, every field of it.
#[derive(Clone, Copy, Debug)]
pub struct RawRecord<'a> {
    /// Its JSON.
    pub json: &'a str,
}

impl<'a> RawRecord<'a> {
    /// As this version understands it.
    pub fn record(&self) -> Result<Record, Problem> {
        serde_json::from_str(self.json).map_err(|error| Problem::not_a_record(&error))
    }

    /// Without its bodies.
    pub fn envelope(&self) -> Result<Envelope<'a>, Problem> {
        serde_json::from_str(self.json).map_err(|error| Problem::not_a_record(&error))
    }
}

/// A conversation as a list shows it.
#[derive(Clone, PartialEq, Debug)]
pub struct JournalHead {
    /// Its id.
    pub id: ConversationId,
    /// What it is; where its first line is damaged, as its other records tell, if they do.
    pub info: Option<ConversationInfo>,
    /// When it was last written.
    pub modified: SystemTime,
    /// Its size.
    pub bytes: u64,
}

impl JournalHead {
    pub(crate) fn new(state: &JournalState, info: Option<ConversationInfo>) -> Self {
        Self { id: state.id, info, modified: state.modified, bytes: state.bytes }
    }
}

/// How a journal stands, seen from outside. While nothing of it changes, neither did the journal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct JournalState {
    /// Its conversation.
    pub id: ConversationId,
    /// When it was last written.
    pub modified: SystemTime,
    /// Its size.
    pub bytes: u64,
    /// Tells it from another journal that took its place.
    pub file: u64,
}

impl JournalState {
    /// Newest first; the id decides between equals, so that a list never flickers.
    pub(crate) fn newest_first(list: &mut [JournalState]) {
        list.sort_unstable_by(|a, b| b.modified.cmp(&a.modified).then(a.id.cmp(&b.id)));
    }
}
