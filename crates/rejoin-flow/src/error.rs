use std::io::ErrorKind;
use std::path::PathBuf;

use rejoin::exit_code;
use rejoin_journal::{JournalError, LockError};

use serde::Serialize;

use crate::{Problems, State};

/// Why a flow was not run, or could not go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FlowError {
    /// The flow itself is wrong.
    #[error(transparent)]
    Wrong(#[from] Problems),
    /// Its file cannot be read.
    #[error("cannot read {}: {cause}", file.display())]
    Unreadable {
        /// Which.
        file: PathBuf,
        /// Why.
        cause: std::io::Error,
    },
    /// What was asked for contradicts itself or the flow.
    #[error("{0}")]
    Usage(String),
    /// A run that was named does not exist.
    #[error("{0}")]
    NotFound(String),
    /// A line of a run's file is not any more what it was.
    #[error("line {line} of {} is damaged; {next}", file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// The line's number.
        line: usize,
        /// What that means, and what can be done.
        next: String,
    },
    /// Somebody else is at it.
    #[error("{0}")]
    Busy(String),
    /// The process that is at a run could not be told to stop.
    #[error("cannot reach the process that is at it ({pid}): {cause}")]
    Unreachable {
        /// Its number.
        pid: u32,
        /// What the system said.
        cause: std::io::Error,
    },
    /// The run could not be written down or read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The library refused.
    #[error(transparent)]
    Rejoin(#[from] rejoin::Error),
}

impl FlowError {
    /// The exit code the command gives for it, a documented number.
    pub fn exit_code(&self) -> i32 {
        match self {
            FlowError::Wrong(_) | FlowError::Usage(_) => exit_code::USAGE,
            FlowError::Unreadable { cause, .. } => match cause.kind() {
                ErrorKind::NotFound => exit_code::NOT_FOUND,
                ErrorKind::InvalidData
                | ErrorKind::InvalidInput
                | ErrorKind::FileTooLarge
                | ErrorKind::IsADirectory => exit_code::USAGE,
                _ => exit_code::INTERNAL,
            },
            FlowError::NotFound(_) => exit_code::NOT_FOUND,
            FlowError::Busy(_) => exit_code::BUSY,
            FlowError::Journal(_) | FlowError::Damaged { .. } | FlowError::Unreachable { .. } => {
                exit_code::INTERNAL
            }
            FlowError::Rejoin(error) => error.exit_code(),
        }
    }
}

/// The closing line of a run's stream where rejoin itself failed in the middle.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(tag = "type", rename = "result")]
#[non_exhaustive]
pub struct BrokenOffRun {
    /// Always `failed`.
    pub state: State,
    /// The exit code the command gives for it.
    pub code: i32,
    /// What went wrong.
    pub error: String,
}

impl From<&FlowError> for BrokenOffRun {
    fn from(error: &FlowError) -> Self {
        Self { state: State::Failed, code: error.exit_code(), error: error.to_string() }
    }
}

impl From<LockError> for FlowError {
    fn from(error: LockError) -> Self {
        match error {
            LockError::Journal(error) => error.into(),
            error @ LockError::Busy { .. } => FlowError::Busy(error.to_string()),
            error @ LockError::Name { .. } => FlowError::Usage(error.to_string()),
        }
    }
}
