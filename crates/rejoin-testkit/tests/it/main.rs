//! The testkit's own tests, in one binary.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod agents;
mod guard;
mod lab;
mod model;
