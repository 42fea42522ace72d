//! Why the cache could not be used this time.

use rejoin_journal::JournalError;
use rusqlite::ErrorCode;
use rusqlite::ffi::SQLITE_READONLY_DBMOVED;

#[derive(Debug)]
pub(crate) enum Failure {
    /// Another process is at it.
    Busy,
    /// What stands there is no cache of ours, or no longer one.
    Ruined,
    /// The disk is full, the directory read-only, …
    Unusable(String),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        // Another process has put a new one in its place: that one is not to be thrown away.
        if error.sqlite_error().is_some_and(|error| error.extended_code == SQLITE_READONLY_DBMOVED) {
            return Failure::Busy;
        }
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Failure::Busy,
            // Our statements are right: if one is not understood (`Unknown`), breaks a rule of the tables
            // or gives a value of another type or size than the one we wrote (`None`), the tables are not
            // ours. A file that could be opened for writing and is read-only says so in its own header.
            Some(
                ErrorCode::DatabaseCorrupt
                | ErrorCode::NotADatabase
                | ErrorCode::SystemIoFailure
                | ErrorCode::Unknown
                | ErrorCode::ConstraintViolation
                | ErrorCode::TypeMismatch
                | ErrorCode::TooBig
                | ErrorCode::OutOfMemory
                | ErrorCode::ReadOnly
                | ErrorCode::InternalMalfunction,
            )
            | None => Failure::Ruined,
            Some(_) => Failure::Unusable(error.to_string()),
        }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(_: serde_json::Error) -> Self {
        Failure::Ruined
    }
}

impl From<JournalError> for Failure {
    fn from(error: JournalError) -> Self {
        Failure::Unusable(error.to_string())
    }
}
