//! Where OpenCode keeps its sessions: in one database for all projects. Versions before it had a
//! directory with a file for each message.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rejoin_core::{SessionId, Witness};

use super::files;
use super::sqlite::{self, Database, Entries};
use crate::{Damage, Found};

/// Names the database; logins and settings stay where they are.
pub(super) const DATABASE: &str = "OPENCODE_DB";

/// A variable that is not empty.
fn set(env: &dyn Fn(&str) -> Option<OsString>, name: &str) -> Option<OsString> {
    env(name).filter(|value| !value.is_empty())
}

/// The directory of its own data.
pub(super) fn data(env: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let data = set(env, "XDG_DATA_HOME").map(PathBuf::from);
    let data = data.or_else(|| set(env, "HOME").map(|home| Path::new(&home).join(".local/share")));
    data.map(|data| data.join("opencode"))
}

/// The database it was told to use, else the directory its own lies in.
pub(super) fn place(env: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    match set(env, DATABASE) {
        Some(memory) if memory == ":memory:" => None,
        Some(database) if Path::new(&database).is_absolute() => Some(database.into()),
        Some(database) => data(env).map(|data| data.join(database)),
        None => data(env),
    }
}

/// Looks for a session that holds a prompt.
pub(super) fn find(store: &Path, session: &SessionId) -> Found {
    look(store, session).unwrap_or(Found::CannotTell)
}

fn look(store: &Path, session: &SessionId) -> io::Result<Found> {
    let databases = databases(store)?;
    if databases.is_empty() {
        let messages = files::messages(store, session.as_str());
        let any = fs::read_dir(&messages).is_ok_and(|mut entries| entries.next().is_some());
        return Ok(if any { Found::At(messages) } else { Found::Nowhere });
    }
    for database in databases {
        match messages(&database, session) {
            Ok(entries) if entries.count > 0 => return Ok(Found::At(database)),
            // Whatever was in it is gone.
            Err(error) if !sqlite::is_zeroed(&error) => return Err(error),
            Ok(_) | Err(_) => {}
        }
    }
    Ok(Found::Nowhere)
}

/// Each channel of releases has a database of its own.
fn databases(store: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(store) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Ok(vec![store.to_owned()]),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with("opencode") && path.extension().is_some_and(|ending| ending == "db") {
            found.push(path);
        }
    }
    Ok(found)
}

fn messages(database: &Path, session: &SessionId) -> io::Result<Entries> {
    let Some(mut database) = Database::open(database)? else {
        return Ok(Entries::default());
    };
    database.entries("message", "session_id", session.as_str())
}

/// What is wrong with a session: its last message is in the index and nowhere else, or a file of a
/// message is none.
pub(super) fn damage(found: &Path, session: &SessionId) -> io::Result<Option<Damage>> {
    let whole = if found.is_dir() {
        files::are_whole(found)?
    } else {
        let last = messages(found, session)?.last;
        match Database::open(found)? {
            Some(mut database) => database
                .has_row("message", last)
                .or_else(|error| if sqlite::is_zeroed(&error) { Ok(false) } else { Err(error) })?,
            None => true,
        }
    };
    Ok((!whole).then_some(Damage::Zeroed))
}

/// Whether a prompt was ever stored there: until then its tables may still be in the making. Two that
/// make them at once break each other.
pub(super) fn is_set_up(store: &Path) -> bool {
    let holds_a_message = |path: &PathBuf| match Database::open(path) {
        Ok(Some(mut database)) => database.has_any("message", "session_id").unwrap_or(false),
        _ => false,
    };
    match databases(store) {
        Ok(databases) if databases.is_empty() => files::any(store),
        Ok(databases) => databases.iter().any(holds_a_message),
        Err(_) => false,
    }
}

/// How many messages the session has, and which is the last: the file itself is everybody's.
pub(super) fn witness(found: &Path, session: &SessionId) -> Option<Witness> {
    let (size, mtime) = if found.is_dir() {
        (fs::read_dir(found).ok()?.count() as u64, 0)
    } else {
        let entries = messages(found, session).ok()?;
        (entries.count, entries.last)
    };
    Some(Witness { path: found.to_string_lossy().into_owned(), size, mtime })
}
