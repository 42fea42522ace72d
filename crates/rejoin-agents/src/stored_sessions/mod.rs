//! The sessions agents keep, looked at without running anything and without touching them: what all stores have
//! in common. Which files there are and what their records mean is each agent's own (`sessions.rs` in its folder).

mod draft;
mod file_ends;
mod json_lines;
mod record_lines;
mod session_store;
mod unknown_kinds;
mod whole_session;

pub(crate) use draft::{Draft, milliseconds, unwrapped};
pub(crate) use file_ends::FileEnds;
pub(crate) use json_lines::{SessionRecords, count_messages, read_session};
pub(crate) use record_lines::each_record;
pub(crate) use session_store::one_of_each;
pub use session_store::{FileStamp, Follows, SessionFiles, SessionStore, StoredSession, UnreadFile};
pub(crate) use unknown_kinds::UnknownKinds;
pub(crate) use whole_session::{LARGEST_SESSION, shortened_output};
pub use whole_session::{StoredAnswer, StoredOutcome, StoredStep, StoredTurn, WholeSession};
