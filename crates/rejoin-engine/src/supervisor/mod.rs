//! Children die with us, and nobody else's do.

mod frames;
mod held_leases;
mod left;
mod main;
mod processes;
mod protocol;
mod spawn;
mod supervised;

pub(crate) use left::{Left, end as end_left, list as list_processes};
pub use main::supervisor_main;
pub use processes::runs_inside;
pub(crate) use protocol::{Command, Report};
pub use supervised::{Helper, SUPERVISE};
pub(crate) use supervised::{LaunchSpec, PATIENCE, Supervised};
