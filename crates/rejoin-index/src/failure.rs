//! Why the cache could not be used this time.

use rejoin_journal::JournalError;
use rusqlite::ErrorCode;

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
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Failure::Busy,
            // Our statements are right: if one is not understood (`Unknown`), or gives a value of
            // another type than the one we wrote (`None`), the tables are not ours.
            Some(
                ErrorCode::DatabaseCorrupt
                | ErrorCode::NotADatabase
                | ErrorCode::SystemIoFailure
                | ErrorCode::Unknown,
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
