//! The sessions agents keep, looked at without running anything and without touching them: what all stores have
//! in common. Which files there are and what their records mean is each agent's own (`sessions.rs` in its folder).

mod draft;
mod file_ends;
mod json_lines;
mod record_lines;
mod record_tree;
mod recorded_turns;
mod session_store;
mod tree_turns;
mod unknown_kinds;
mod whole_session;

pub(crate) use draft::{Draft, believable_dir, milliseconds, named_branch, unwrapped};
pub(crate) use file_ends::FileEnds;
pub(crate) use json_lines::{
    Records, SessionRecords, count_messages, each_line, read_records, read_session, record_in,
};
pub(crate) use record_lines::each_record;
pub(crate) use record_tree::{RecordTree, last_below};
pub(crate) use recorded_turns::{Entry, Sign, stored_turns};
pub(crate) use session_store::one_of_each;
pub use session_store::{FileStamp, Follows, SessionFiles, SessionStore, StoredSession, UnreadFile};
pub(crate) use unknown_kinds::UnknownKinds;
pub(crate) use whole_session::{LARGEST_SESSION, shortened_output, too_large};
pub use whole_session::{StoredAnswer, StoredOutcome, StoredStep, StoredTurn, WholeSession};
