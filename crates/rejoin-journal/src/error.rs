use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rejoin_core::ConversationId;

use crate::BlobId;

/// What can go wrong with the disk: what happened, to what, what to do next.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The system refused an operation on a path.
    #[error("cannot {what} {}: {cause}; {}", path.display(), next_step(cause))]
    Io {
        /// What was tried, as a verb: "open", "read the directory".
        what: &'static str,
        /// To what.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// A batch of records could not be written, or not all of it.
    #[error(
        "cannot write to the journal {}: {cause}; nothing written before is lost, {kept} of {records} new records are kept; {}",
        path.display(),
        next_step(cause)
    )]
    Append {
        /// The journal.
        path: PathBuf,
        /// Records of the batch that are whole in the file: repeating those would double them.
        kept: usize,
        /// Records in the batch.
        records: usize,
        /// What the system said.
        cause: io::Error,
    },
    /// An earlier write could not be brought to the disk: nothing more is written on top of it.
    #[error(
        "the journal {} could not be brought to the disk before, and what was written last may be lost; nothing more was written: look at the disk, then go on (`rejoin fsck` tells what is there)",
        path.display()
    )]
    Unsynced {
        /// The journal.
        path: PathBuf,
    },
    /// A record that no reader would load again; nothing was written.
    #[error(
        "a record of {bytes} bytes is too long for a journal, which takes {limit} per line; nothing was written: send less at once, or name a file instead of pasting it"
    )]
    RecordTooLong {
        /// Its length as a line.
        bytes: usize,
        /// The longest line.
        limit: usize,
    },
    /// A record that JSON cannot express; nothing was written.
    #[error("a record cannot be written as JSON: {cause}; nothing was written, this is a bug in rejoin")]
    NotJson {
        /// What the serialiser said.
        cause: serde_json::Error,
    },
    /// Somebody holds the append lock for longer than any append takes.
    #[error(
        "the journal {} has been locked by another process for {} s; look for a stopped rejoin (`ps`), continue or end it, and try again",
        path.display(),
        waited.as_secs()
    )]
    AppendLocked {
        /// The journal.
        path: PathBuf,
        /// For how long we waited.
        waited: Duration,
    },
    /// There is no such conversation.
    #[error("there is no conversation {id} in {place}; list the conversations to see which there are")]
    NotFound {
        /// Which.
        id: ConversationId,
        /// Where it was looked for.
        place: String,
    },
    /// The conversation to be created is there already.
    #[error("conversation {id} exists already; open it, or create one under another id")]
    Exists {
        /// Which.
        id: ConversationId,
    },
    /// A conversation of this id is here, and the other one is not its continuation.
    #[error(
        "conversation {id} is here already and has gone another way than the one to be imported; remove that one first (`rejoin rm {id}`), or import into another REJOIN_HOME"
    )]
    Differs {
        /// Which.
        id: ConversationId,
    },
    /// Two journals carry one id: a copy lies around.
    #[error(
        "conversation {id} has two journals, {} and {}; move one of them away",
        one.display(),
        other.display()
    )]
    Twice {
        /// Which.
        id: ConversationId,
        /// One.
        one: PathBuf,
        /// The other.
        other: PathBuf,
    },
    /// The journal was deleted while it was open.
    #[error("the journal {} was deleted while it was in use; nothing was written: restore it, or begin a new conversation", path.display())]
    Deleted {
        /// The journal.
        path: PathBuf,
    },
    /// A cursor points behind the end: the journal is another one than it was.
    #[error(
        "{place} is shorter ({length} bytes) than when it was last read ({cursor}); read it again from the beginning"
    )]
    Shrunk {
        /// The journal.
        place: String,
        /// The cursor.
        cursor: u64,
        /// Its length now.
        length: u64,
    },
    /// A cursor does not fit the journal.
    #[error("the cursor does not fit conversation {id}: {why}; read it again from the beginning")]
    Diverged {
        /// Which.
        id: ConversationId,
        /// What is wrong.
        why: Divergence,
    },
    /// The lease that the append was made under is not held any more.
    #[error(
        "the lease on conversation {id} was given back, or somebody else has it; nothing was written: begin the turn anew"
    )]
    Fenced {
        /// Which.
        id: ConversationId,
    },
    /// The store does not keep its journals in files.
    #[error("this store does not keep conversations in files, so it cannot {what}; use one that does")]
    NotInFiles {
        /// What was asked for.
        what: &'static str,
    },
    /// The file that names this home is unreadable.
    #[error(
        "{} does not hold an id; delete it to get a new one (sessions of agents made before will then be replayed, not resumed)",
        path.display()
    )]
    DamagedHomeId {
        /// The file.
        path: PathBuf,
    },
}

/// Why a cursor does not fit a journal.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Divergence {
    /// It is of another conversation, or of a journal in whose place there is another one.
    #[error("it is of another journal")]
    AnotherJournal,
    /// The journal ends before it: an older state of it was put back.
    #[error("the journal has {length} bytes and once had {position}")]
    Shorter {
        /// Where the cursor stands.
        position: u64,
        /// Where the journal ends.
        length: u64,
    },
    /// It stands where no record ends.
    #[error("byte {position} is inside of a record")]
    InsideARecord {
        /// Where the cursor stands.
        position: u64,
    },
    /// Other records lie before it than did once.
    #[error("before byte {position} there are other records than there were")]
    OtherRecords {
        /// Where the cursor stands.
        position: u64,
    },
}

/// Why bytes cannot be kept, or handed out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BlobError {
    /// Nobody kept them, or they were removed.
    #[error("there are no bytes of the hash {id}; attach them anew")]
    NotFound {
        /// Their hash.
        id: BlobId,
    },
    /// They are not any more what they were.
    #[error("the bytes of the hash {id} in {place} are damaged; attach them anew")]
    Damaged {
        /// Their hash.
        id: BlobId,
        /// Where they are.
        place: String,
    },
    /// There are too many of them.
    #[error("more than {limit} bytes at once are not kept; attach less, or name a file")]
    TooLong {
        /// So many are.
        limit: u64,
    },
    /// The disk refused.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

impl JournalError {
    /// For `map_err`: what was tried, on which path.
    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> JournalError {
        move |cause| JournalError::Io { what, path: path.to_owned(), cause }
    }
}

/// What a person can do about an error of the system.
pub(crate) fn next_step(cause: &io::Error) -> &'static str {
    match cause.kind() {
        io::ErrorKind::PermissionDenied => {
            "give yourself access to it, or set REJOIN_HOME to a directory of your own"
        }
        io::ErrorKind::ReadOnlyFilesystem => {
            "the file system is read-only: mount it writable, or set REJOIN_HOME to a directory that is"
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "the disk or your quota is full: free some space and try again"
        }
        io::ErrorKind::FileTooLarge => {
            "the file may not grow further: raise the limit (`ulimit -f`) or begin a new conversation"
        }
        io::ErrorKind::NotADirectory => {
            "a part of that path is a file: move it away, or set REJOIN_HOME to another directory"
        }
        io::ErrorKind::IsADirectory => "a directory stands where a file belongs: move it away",
        io::ErrorKind::NotFound => "a part of that path is gone: restore it, or set REJOIN_HOME",
        io::ErrorKind::Unsupported => {
            "this file system cannot do it: set REJOIN_HOME to a directory on a local disk"
        }
        _ => "see to the cause and try again",
    }
}
