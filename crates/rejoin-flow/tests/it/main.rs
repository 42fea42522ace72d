//! Flow files: what is read, what is refused, in which order steps run.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should stop")]

mod files;
mod fuzz;
