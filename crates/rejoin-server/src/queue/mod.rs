//! Runs that wait, and when each begins.
//!
//! A run is a turn. What was asked for is a line in the log of its conversation (`entry`, `log`) before anybody is told
//! that it was taken; folding the lines gives the queue (`state`). `schedule` chooses who is next, `carry_out` begins the
//! turn and sees it through, `recover` goes on after a restart. Whether a turn stands is told by its journal alone: it has
//! the run's id for its own, so a prompt never becomes two turns, wherever the daemon was killed.

mod all_queues;
mod ask;
mod at_work;
mod begin;
mod carry_out;
mod counts;
pub(crate) mod derived_ids;
mod entry;
mod ephemeral;
mod flow_turns;
mod log;
mod look;
mod recover;
mod schedule;
mod state;
pub(crate) mod surroundings;
mod uploads;

pub(crate) use all_queues::{Queue, Submitted, key_reused};
pub(crate) use ask::{Wanted, check_prompt};
pub(crate) use carry_out::drive;
pub(crate) use counts::Counts;
pub(crate) use entry::{Asked, Entry, RunEnd};
pub(crate) use ephemeral::Ephemeral;
pub(crate) use flow_turns::FlowTurnPlaces;

pub(crate) use look::RunLook;
pub(crate) use state::Phase;
pub(crate) use uploads::{Upload, are_kept, keep_upload};

/// The present, as it stands in logs and answers: always of the same length, so that two of them compare as texts.
pub(crate) fn now() -> String {
    format!("{:.3}", jiff::Timestamp::now())
}

/// The same, so long ago.
pub(crate) fn ago(time: std::time::Duration) -> String {
    let then = jiff::Timestamp::now().checked_sub(time).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    format!("{then:.3}")
}
