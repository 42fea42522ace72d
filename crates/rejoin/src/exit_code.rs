//! The exit codes of the command, a documented part of its interface: what turns, flows and errors mean in a number.

use rejoin_core::{FailureClass, Outcome};

/// Done.
pub const DONE: i32 = 0;
/// The agent failed.
pub const AGENT_FAILED: i32 = 1;
/// A check found damage.
pub const DAMAGED: i32 = 1;
/// Wrong usage or configuration.
pub const USAGE: i32 = 2;
/// A time limit ran out.
pub const TIMEOUT: i32 = 3;
/// What was asked for is not there.
pub const NOT_FOUND: i32 = 4;
/// A permission level cannot be enforced, or would be widened.
pub const PERMISSION: i32 = 5;
/// Somebody else is at it.
pub const BUSY: i32 = 6;
/// rejoin itself failed: disk, journal, system.
pub const INTERNAL: i32 = 7;
/// Stopped by the user.
pub const CANCELLED: i32 = 130;

/// The code of a turn that ran; [`Error::exit_code`](crate::Error::exit_code) is that of one that did not.
pub fn of_outcome(outcome: &Outcome) -> i32 {
    match outcome {
        Outcome::Completed => DONE,
        Outcome::Failed { class: FailureClass::Busy, .. } => BUSY,
        Outcome::Failed { class: FailureClass::Internal, .. } => INTERNAL,
        Outcome::Failed { .. } => AGENT_FAILED,
        Outcome::Timeout { .. } => TIMEOUT,
        Outcome::Cancelled => CANCELLED,
    }
}
