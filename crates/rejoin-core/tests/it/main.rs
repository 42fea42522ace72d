//! The tests of the heart: the rule of resuming, its words, and the records it is folded from.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests are tests")]

mod composer;
mod guard_matrix;
mod origins;
mod permissions;
mod properties;
mod records;
mod world;
