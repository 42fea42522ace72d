//! The daemon, over its HTTP API.

mod auth;
mod catalog;
mod conversations;
pub(crate) mod daemon;
mod events;
mod flows;
mod hostile;
mod overview;
mod questions;
mod queue;
mod runs;
mod scopes;
