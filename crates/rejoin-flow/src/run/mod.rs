//! Carrying out a flow.

mod agent;
mod asked_to_stop;
mod at_once;
mod cancel;
mod command;
mod follow;
mod for_each;
mod history;
mod line;
mod log;
mod output;
mod overview;
mod parallel;
mod plan;
mod prepare;
mod record;
mod remove;
mod run_by;
mod stop;
mod turn_places;
mod updated;
mod walk;

pub use agent::LABEL;
pub use cancel::cancel;
pub use follow::{RunLines, Written};
pub use history::{Open, Run, Standing, Steps, find, find_id, holder, open};
pub use overview::{Overview, RunStart, runs};
pub use plan::PlannedStep;
pub use prepare::{Options, Prepared, ResumeOptions};
pub use record::{Begun, Ended, FORMAT, Key, Record, RunId, State, short_run_id};
pub use remove::{prunable, remove};
pub use run_by::RunBy;
pub use stop::Stop;
pub use turn_places::TurnPlaces;
pub use walk::Notice;
