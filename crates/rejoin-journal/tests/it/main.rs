//! The journal as its users see it: one module per promise.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

mod adopt;
mod campaign;
mod child;
mod concurrent;
mod conformance;
mod damage;
mod documented;
mod find;
mod folds;
mod following;
mod full_disk;
mod fuzz;
mod home;
mod leases;
mod levels;
mod locks;
mod logs;
mod many;
mod merge;
mod origins;
mod pages;
mod private;
mod projects;
mod random_bytes;
mod support;
mod torn;
