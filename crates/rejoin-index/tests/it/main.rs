//! The index against the journals behind it: whatever happens to it, the answers are theirs.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should stop")]

mod cache;
mod equal;
mod languages;
mod last_use;
mod naive;
mod newest;
mod same_answer;
mod support;
