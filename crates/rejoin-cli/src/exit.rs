//! Exit codes, a documented part of the interface: `rejoin --help` and the README list them.

use std::io;
use std::process::ExitCode;

pub(crate) use rejoin::exit_code::*;

pub(crate) fn code(code: i32) -> ExitCode {
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}

/// An error about a file or a directory that was named: one that is not there has the same code everywhere.
pub(crate) fn by_kind(cause: &io::Error, text: String) -> anyhow::Error {
    match cause.kind() {
        io::ErrorKind::NotFound => rejoin::Error::from(rejoin::TurnError::NotFound(text)).into(),
        _ => rejoin::Error::Config(text).into(),
    }
}

/// The code of an error.
pub(crate) fn of(error: &anyhow::Error) -> i32 {
    let of_turn = error.downcast_ref::<rejoin::Error>().map(rejoin::Error::exit_code);
    let of_flow = || error.downcast_ref::<rejoin_flow::FlowError>().map(rejoin_flow::FlowError::exit_code);
    of_turn.or_else(of_flow).unwrap_or(INTERNAL)
}
