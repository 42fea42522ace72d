//! The daemon, over its HTTP API.

mod catalog;
mod daemon;
mod flows;
mod overview;
mod queue;
mod runs;
