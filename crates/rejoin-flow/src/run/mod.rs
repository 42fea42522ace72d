//! Carrying out a flow.

mod agent;
mod at_once;
mod command;
mod for_each;
mod history;
mod line;
mod log;
mod output;
mod overview;
mod parallel;
mod prepare;
mod record;
mod stop;
mod walk;

pub use history::{Open, Run, Standing, Steps, find, holder};
pub use overview::{Overview, runs};
pub use prepare::{Options, Prepared};
pub use record::{Begun, Ended, FORMAT, Key, Record, RunId, State};
pub use stop::Stop;
pub use walk::Notice;
