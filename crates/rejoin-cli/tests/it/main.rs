//! Whole commands, as a user runs them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_macros,
    reason = "a test that cannot go on should stop"
)]

mod commands;
mod failures;
mod flows;
mod history;
mod real;
mod serve;
mod support;
mod turns;
