//! The daemon, over its HTTP API.

mod daemon;
mod overview;
mod queue;
mod runs;
