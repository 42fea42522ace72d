//! Carrying out a flow.

mod agent;
mod at_once;
mod command;
mod for_each;
mod history;
mod log;
mod output;
mod parallel;
mod prepare;
mod record;
mod stop;
mod walk;

pub use history::{Open, Overview, Run, Standing, Steps, find, holder, runs};
pub use prepare::{Options, Prepared};
pub use record::{Begun, Ended, FORMAT, Key, Record, RunId, State};
pub use stop::Stop;
pub use walk::Notice;
