//! Carries out one turn: find the agent, decide, write down what is meant, launch, watch, settle.
//!
//! [`Engine::run`] is the way of a turn; the terminal, the library, a flow and the daemon all
//! call it. Blocking threads and channels; nothing here knows HTTP or a terminal.

#[cfg(not(unix))]
compile_error!("rejoin's engine needs a Unix-like system so far");

mod after;
mod asks;
mod before;
mod between_turns;
mod command;
mod conversation_watch;
mod during;
mod engine;
mod error;
mod events;
mod handle;
mod limits;
mod look_ahead;
mod order;
mod outcome;
mod retelling;
mod supervisor;
#[cfg(test)]
mod tests;
mod turn;
mod watch;

pub use before::attach::{KeptAttachment, read_attachments};
pub use before::git::project_of;
pub use before::lease::{EarlyLease, Unusable, end_left};
pub use before::prepare::DryRun;
pub use before::probe::Installation;
pub use before::project_marks::SeenProject;
pub use between_turns::Hold;
pub use command::{CommandEnd, CommandOutcome, ShellCommand};
pub use conversation_watch::{ConversationWatch, NextEvents, WatchedEvents};
pub use during::answers::{NotAnswered, OpenQuestion};
pub use during::cancel::{CancelWatch, Canceller};
pub use engine::Engine;
pub use error::TurnError;
pub use events::{Events, NextEvent};
pub use handle::TurnHandle;
pub use limits::Limits;
pub use look_ahead::NextTurn;
pub use order::{AgentSetup, Base, Order, Target};
pub use outcome::TurnOutcome;
pub use supervisor::{Helper, SUPERVISE, runs_inside, supervisor_main};
pub use watch::Watcher;
