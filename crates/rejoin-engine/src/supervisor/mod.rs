//! Children die with us, and nobody else's do.

mod descendants;
mod handshake;
mod main;
mod protocol;
mod spawn;
mod supervised;

pub use main::supervisor_main;
pub(crate) use protocol::{Command, Report};
pub use supervised::{Helper, SUPERVISE};
pub(crate) use supervised::{LaunchSpec, Supervised};
