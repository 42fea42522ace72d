//! Carries out one turn: find the agent, decide, write down what is meant, launch, watch, settle.
//!
//! [`Engine::run`] is the way of a turn; the terminal, the library, a flow and the daemon all
//! call it. Blocking threads and channels; nothing here knows HTTP or a terminal.

#[cfg(not(unix))]
compile_error!("rejoin's engine needs a Unix-like system so far");

mod answers;
mod attach;
mod cancel;
mod command;
mod desk;
mod drain;
mod engine;
mod error;
mod fork;
mod git;
mod harvest;
mod ladder;
mod lease;
mod limits;
mod lines;
mod note;
mod order;
mod origin;
mod outcome;
mod poll;
mod preflight;
mod probe;
mod pump;
mod queue;
mod ready;
mod scene;
mod scratch;
mod scribe;
mod set_up;
mod settle;
mod shown_args;
mod silence;
mod supervisor;
#[cfg(test)]
mod tests;
mod text;
mod turn;
mod watch;
mod weight;
mod why;

pub use answers::OpenQuestion;
pub use attach::read_attachments;
pub use cancel::{CancelWatch, Canceller};
pub use command::{CommandEnd, CommandOutcome, ShellCommand};
pub use engine::Engine;
pub use error::TurnError;
pub use git::project_of;
pub use lease::{EarlyLease, Unusable, end_left};
pub use limits::Limits;
pub use note::Hold;
pub use order::{AgentSetup, Base, Order, Target};
pub use outcome::TurnOutcome;
pub use probe::Installation;

pub use ready::DryRun;
pub use supervisor::{Helper, SUPERVISE, supervisor_main};
pub use watch::Watcher;
pub use why::{Check, Why};
