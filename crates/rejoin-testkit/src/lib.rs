//! What rejoin's tests stand on: a scripted model that real agents talk to over loopback, a laboratory with a
//! home and a project of its own, and a guard that keeps every other test away from real agents.
//!
//! Development only: nothing here may become a normal dependency of another crate.

#![allow(clippy::missing_panics_doc, reason = "these helpers are assertions: they panic to fail the test")]

pub mod fuzz;
mod guard;
mod lab;
mod model;
mod outcome;
mod program;
mod table;

pub use guard::{GUARD_EXIT_CODE, GUARDED_AGENTS, guard_path};
pub use lab::Lab;
pub use model::{File, Request, ScriptedModel, Tokens};
pub use outcome::{Outcome, run_to_end};
pub use program::{copy_program, write_program};
pub use table::{TABLE_VARIABLE, Table, Verdict, note};
