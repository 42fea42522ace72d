//! The disk: one append-only file per conversation, and the locks around it.
//!
//! Nothing here knows agents or processes. A journal is lines; [`Store`] appends and reads them,
//! [`load`] makes a conversation of them, [`messages`] merges the texts of one turn, [`Locks`]
//! keeps two writers apart. The format is told in docs/journal.md.

#[cfg(feature = "conformance")]
extern crate self as rejoin_journal;

#[cfg(feature = "conformance")]
pub mod conformance;

mod adopt;
mod append;
mod blobs;
mod changes;
mod checksum;
mod clip;
mod cursor;
mod digest;
mod error;
mod file_store;
mod find;
mod follow;
mod home;
mod kept_open;
mod lease;
mod lease_name;
mod lines;
mod load;
mod load_cache;
mod locks;
mod logs;
mod memory_leases;
mod memory_store;
mod messages;
mod moving;
mod notify;
mod origins;
mod owner;
mod page;
pub mod private;
mod problem;
mod process;
mod project_name;
mod random_access;
mod scan;
mod store;
mod turn_spans;
mod waker;

pub use blobs::{BlobId, Blobs, LONGEST_BLOB, NotABlobId};
pub use changes::{Changes, Mark, NotAMark};
pub use checksum::Checksum;
pub use clip::fit_line;
pub use cursor::{Cursor, NotACursor};
pub use error::{BlobError, Divergence, JournalError};
pub use file_store::FileStore;
pub use find::{find_by_prefix, find_by_session};
pub use home::Home;
pub use kept_open::KeptOpen;
pub use lease::{HeldLease, Lease, LeaseToken, Leases, Writer};
pub use lease_name::LeaseName;
pub use load::{Loaded, load, load_anew, load_before};
pub use locks::{LockError, Locks, write_owner};
pub use logs::{LogEnd, LogKind, Logs};
pub use memory_leases::MemoryLeases;
pub use memory_store::MemoryStore;
pub use messages::{Merged, messages, questions};
pub use origins::{KnownOrigin, Origins};
pub use owner::Owner;
pub use page::{NotAPage, Page, PageToken};
pub use problem::{Noted, Problem, Problems};
pub use process::{Process, birth};
pub use store::{
    Adopted, Append, BeforeAdopting, Entry, JournalFiles, JournalHead, JournalState, LONGEST_LINE, RawRecord,
    Store,
};
pub use turn_spans::open_turns_begin;
pub use waker::Waker;
