//! The daemon, over its HTTP API.

mod auth;
mod daemon;
mod overview;
