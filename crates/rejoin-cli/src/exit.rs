//! Exit codes, a documented part of the interface: `rejoin --help` and the README list them.

use std::process::ExitCode;

use rejoin::{FailureClass, Outcome};

/// Done.
pub(crate) const DONE: i32 = 0;
/// The agent failed.
pub(crate) const AGENT_FAILED: i32 = 1;
/// A check found damage.
pub(crate) const DAMAGED: i32 = 1;
/// Wrong usage or configuration.
pub(crate) const USAGE: i32 = 2;
/// A time limit ran out.
pub(crate) const TIMEOUT: i32 = 3;
/// What was asked for is not there.
pub(crate) const NOT_FOUND: i32 = 4;
/// Somebody else is at it.
pub(crate) const BUSY: i32 = 6;
/// rejoin itself failed: disk, journal, system.
pub(crate) const INTERNAL: i32 = 7;
/// Stopped by the user.
pub(crate) const CANCELLED: i32 = 130;

pub(crate) fn code(code: i32) -> ExitCode {
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}

/// The code of an error.
pub(crate) fn of(error: &anyhow::Error) -> i32 {
    let of_turn = error.downcast_ref::<rejoin::Error>().map(rejoin::Error::exit_code);
    let of_flow = || error.downcast_ref::<rejoin_flow::FlowError>().map(rejoin_flow::FlowError::exit_code);
    of_turn.or_else(of_flow).unwrap_or(INTERNAL)
}

/// The code of a turn that ran.
pub(crate) fn of_outcome(outcome: &Outcome) -> i32 {
    match outcome {
        Outcome::Completed => DONE,
        Outcome::Failed { class: FailureClass::Busy, .. } => BUSY,
        Outcome::Failed { class: FailureClass::Internal, .. } => INTERNAL,
        Outcome::Failed { .. } => AGENT_FAILED,
        Outcome::Timeout { .. } => TIMEOUT,
        Outcome::Cancelled => CANCELLED,
    }
}
