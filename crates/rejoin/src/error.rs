use std::io;

use rejoin_engine::TurnError;
use rejoin_journal::JournalError;

use crate::exit_code;

/// Why something was not done. A turn that ran and failed is no error but an outcome.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The turn was refused or could not be carried out.
    #[error(transparent)]
    Turn(#[from] TurnError),
    /// The configuration is wrong.
    #[error("{0}")]
    Config(String),
}

impl Error {
    /// The exit code the command gives for it, a documented number.
    pub fn exit_code(&self) -> i32 {
        match self {
            // Only what the user says can be too long: what agents say is cut to fit.
            Error::Turn(
                TurnError::Usage(_)
                | TurnError::AlreadyAsked { .. }
                | TurnError::KeyReused { .. }
                | TurnError::NotAnswered(_)
                | TurnError::Journal(JournalError::Differs { .. } | JournalError::RecordTooLong { .. }),
            )
            | Error::Config(_) => exit_code::USAGE,
            Error::Turn(TurnError::NotFound(_) | TurnError::Journal(JournalError::NotFound { .. })) => {
                exit_code::NOT_FOUND
            }
            Error::Turn(TurnError::Permission(_)) => exit_code::PERMISSION,
            Error::Turn(TurnError::Busy { .. } | TurnError::Changed { .. } | TurnError::TooMany { .. }) => {
                exit_code::BUSY
            }
            Error::Turn(TurnError::Cancelled { .. }) => exit_code::CANCELLED,
            // The journal, the disk, the system; and what is added later, until it has a number of its own.
            Error::Turn(_) => exit_code::INTERNAL,
        }
    }

    /// Whether somebody else is at it, or was meanwhile.
    pub fn is_busy(&self) -> bool {
        matches!(self, Error::Turn(TurnError::Busy { .. } | TurnError::Changed { .. }))
    }

    /// What the system refused, if it refused something.
    pub fn io_kind(&self) -> Option<io::ErrorKind> {
        match self {
            Error::Turn(
                TurnError::System { cause, .. } | TurnError::Journal(JournalError::Io { cause, .. }),
            ) => Some(cause.kind()),
            _ => None,
        }
    }

    pub(crate) fn usage(text: impl Into<String>) -> Self {
        TurnError::Usage(text.into()).into()
    }

    /// The executor gave a thread up.
    #[cfg(feature = "tokio")]
    pub(crate) fn executor(cause: tokio::task::JoinError) -> Self {
        TurnError::System { what: "tokio ended what was awaited".to_owned(), cause: cause.into() }.into()
    }

    pub(crate) fn not_found(text: impl Into<String>) -> Self {
        TurnError::NotFound(text.into()).into()
    }
}

impl From<Error> for TurnError {
    fn from(error: Error) -> Self {
        match error {
            Error::Turn(error) => error,
            Error::Config(text) => TurnError::Usage(text),
        }
    }
}

impl From<JournalError> for Error {
    fn from(error: JournalError) -> Self {
        TurnError::from(error).into()
    }
}

/// What the system refused.
pub(crate) fn cannot(what: &'static str) -> impl FnOnce(io::Error) -> Error {
    move |cause| TurnError::System { what: format!("cannot {what}"), cause }.into()
}
