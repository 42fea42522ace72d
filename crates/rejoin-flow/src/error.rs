use std::io::ErrorKind;
use std::path::PathBuf;

use rejoin_journal::{JournalError, LockError};

use crate::Problems;

/// Why a flow was not run, or could not go on.
#[derive(Debug, thiserror::Error)]
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
            FlowError::Wrong(_) | FlowError::Usage(_) => 2,
            FlowError::Unreadable { cause, .. } => match cause.kind() {
                ErrorKind::NotFound => 4,
                ErrorKind::InvalidData
                | ErrorKind::InvalidInput
                | ErrorKind::FileTooLarge
                | ErrorKind::IsADirectory => 2,
                _ => 7,
            },
            FlowError::NotFound(_) => 4,
            FlowError::Busy(_) => 6,
            FlowError::Journal(_) | FlowError::Damaged { .. } => 7,
            FlowError::Rejoin(error) => error.exit_code(),
        }
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
