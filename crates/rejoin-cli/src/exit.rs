//! Exit codes, a documented part of the interface: `rejoin --help` and the README list them.

use std::process::ExitCode;

pub(crate) use rejoin::exit_code::*;

pub(crate) fn code(code: i32) -> ExitCode {
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}

/// The code of an error.
pub(crate) fn of(error: &anyhow::Error) -> i32 {
    let of_turn = error.downcast_ref::<rejoin::Error>().map(rejoin::Error::exit_code);
    let of_flow = || error.downcast_ref::<rejoin_flow::FlowError>().map(rejoin_flow::FlowError::exit_code);
    of_turn.or_else(of_flow).unwrap_or(INTERNAL)
}
