//! The testkit's own tests, in one binary.

mod agents;
mod guard;
mod lab;
mod model;
