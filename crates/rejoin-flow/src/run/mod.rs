//! Carrying out a flow.

mod agent;
mod at_once;
mod cancel;
mod command;
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
mod stop;
mod walk;

pub use cancel::cancel;
pub use history::{Open, Run, Standing, Steps, find, holder, open};
pub use overview::{Overview, runs};
pub use plan::PlannedStep;
pub use prepare::{Options, Prepared};
pub use record::{Begun, Ended, FORMAT, Key, Record, RunId, State, short_run_id};
pub use stop::Stop;
pub use walk::Notice;
