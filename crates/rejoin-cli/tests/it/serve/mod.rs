//! The daemon, over its HTTP API.

mod daemon;
mod events;
mod overview;
