//! The demo agent as a process: what it remembers, what it does when told, how it goes wrong.

#![expect(clippy::unwrap_used, reason = "helpers of tests may fail like tests")]

mod bad_ends;
mod demo;
mod memory;
mod refusals;
mod steps;
