//! Where OpenCode keeps its sessions: in one database for all projects. Versions before it had a
//! directory with a file for each message.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rejoin_core::{SessionId, Witness};

use super::files;
use super::sqlite::{self, Entries};
use crate::{Damage, Found, Look, Wanted, places};

/// Names the database; logins and settings stay where they are.
pub(super) const DATABASE: &str = "OPENCODE_DB";

/// The directory of its own data.
pub(super) fn data(env: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let data = places::named(env, "XDG_DATA_HOME").or_else(|| places::at_home(env, ".local/share"));
    data.map(|data| data.join("opencode"))
}

/// The database it was told to use, else the directory its own lies in.
pub(super) fn place(env: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    match places::named(env, DATABASE) {
        Some(memory) if memory.as_os_str() == ":memory:" => None,
        Some(database) if database.is_absolute() => Some(database),
        Some(database) => data(env).map(|data| data.join(database)),
        None => data(env),
    }
}

/// Looks for a session that holds a prompt, and at it.
pub(super) fn look(store: &Path, session: &SessionId, wanted: Wanted) -> Look {
    at_it(store, session, wanted).unwrap_or_else(|_| Look::at_nothing(Found::CannotTell))
}

fn at_it(store: &Path, session: &SessionId, wanted: Wanted) -> io::Result<Look> {
    let paths = databases(store)?;
    if paths.is_empty() {
        let messages = files::messages(store, session.as_str());
        let any = fs::read_dir(&messages).is_ok_and(|mut entries| entries.next().is_some());
        let found = if any { Found::At(messages.clone()) } else { Found::Nowhere };
        let damage = (any && wanted.damage).then(|| damage(&messages, session).ok().flatten()).flatten();
        let witness = if any { witness(&messages, session) } else { None };
        return Ok(Look { witness, damage, ..Look::at_nothing(found) });
    }
    for path in paths {
        match messages(&path, session, wanted.damage) {
            Ok((entries, damage)) if entries.count > 0 => {
                let witness = Some(seen(&path, entries.count, entries.last));
                return Ok(Look { witness, damage, ..Look::at_nothing(Found::At(path)) });
            }
            // Whatever was in it is gone.
            Err(error) if !sqlite::is_zeroed(&error) => return Err(error),
            Ok(_) | Err(_) => {}
        }
    }
    Ok(Look::at_nothing(Found::Nowhere))
}

/// Each channel of releases has a database of its own.
pub(super) fn databases(store: &Path) -> io::Result<Vec<PathBuf>> {
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

/// The messages of a session, and what is wrong with it if that is asked for: the last one is in the index and
/// nowhere else.
fn messages(database: &Path, session: &SessionId, and_damage: bool) -> io::Result<(Entries, Option<Damage>)> {
    let found = sqlite::read(database, |database| {
        let entries = database.entries("message", "session_id", session.as_str())?;
        if !and_damage || entries.count == 0 {
            return Ok((entries, None));
        }
        let lost = match database.has_row("message", entries.last) {
            Ok(whole) => !whole,
            Err(error) => sqlite::is_zeroed(&error),
        };
        Ok((entries, lost.then_some(Damage::Zeroed)))
    })?;
    Ok(found.unwrap_or_default())
}

/// What is wrong with a session: its last message is lost, or a file of a message is none.
pub(super) fn damage(found: &Path, session: &SessionId) -> io::Result<Option<Damage>> {
    if found.is_dir() {
        return Ok((!files::are_whole(found)?).then_some(Damage::Zeroed));
    }
    Ok(messages(found, session, true)?.1)
}

/// Whether a prompt was ever stored there: until then its tables may still be in the making. Two that
/// make them at once break each other.
pub(super) fn is_set_up(store: &Path) -> bool {
    let holds_a_message = |path: &PathBuf| {
        let any = sqlite::read(path, |database| database.has_any("message", "session_id"));
        any.ok().flatten().unwrap_or(false)
    };
    match databases(store) {
        Ok(databases) if databases.is_empty() => files::any(store),
        Ok(databases) => databases.iter().any(holds_a_message),
        Err(_) => false,
    }
}

/// How many messages the session has, and which is the last: the file itself is everybody's.
pub(super) fn witness(found: &Path, session: &SessionId) -> Option<Witness> {
    if found.is_dir() {
        return Some(seen(found, fs::read_dir(found).ok()?.count() as u64, 0));
    }
    let (entries, _) = messages(found, session, false).ok()?;
    Some(seen(found, entries.count, entries.last))
}

fn seen(found: &Path, size: u64, mtime: i64) -> Witness {
    Witness { path: found.to_string_lossy().into_owned(), size, mtime }
}
