//! The daemon, over its HTTP API.

mod auth;
mod catalog;
mod conversations;
pub(crate) mod daemon;
mod events;
mod flow_turns;
mod flows;
mod hostile;
mod instead_of;
mod lifecycle;
mod listening;
mod overview;
mod page;
mod questions;
mod queue;
mod runs;
mod scopes;
mod terminal_turns;
