//! The daemon, over its HTTP API.

mod auth;
mod catalog;
mod daemon;
mod flows;
mod overview;
mod queue;
mod runs;
