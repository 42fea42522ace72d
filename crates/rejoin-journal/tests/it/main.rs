//! The journal as its users see it: one module per promise.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

#[macro_use]
#[path = "../../src/conformance/mod.rs"]
mod conformance;

mod adopt;
mod beside;
mod campaign;
mod child;
mod concurrent;
mod conforming;
mod damage;
mod documented;
mod find;
mod following;
mod full_disk;
mod fuzz;
mod home;
mod leases;
mod levels;
mod load_cache;
mod locks;
mod many;
mod merge;
mod origins;
mod private;
mod projects;
mod random_bytes;
mod support;
mod torn;
mod turn_spans;
