//! Takes in the sessions that agents keep: they become conversations, or what went on in them outside of rejoin comes
//! to the conversation they belong to.

mod adopt_session;
mod adopt_sessions;
pub(crate) mod before_turn;
mod draft;
mod find_session;
mod ids;
mod in_use;
mod match_turns;
mod removed_sessions;
mod report;
#[cfg(test)]
mod tests;
mod turn_records;

pub use adopt_sessions::{AdoptRequest, WantedSessions};
pub use report::{AdoptOutcome, AdoptReport, AdoptedSession};
