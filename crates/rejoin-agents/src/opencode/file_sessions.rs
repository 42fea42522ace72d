//! The sessions of versions before the database (1.1.31): a file for each session, message and part of a message.

use std::io;
use std::path::{Path, PathBuf};

use rejoin_files::read_regular_text;
use serde::Deserialize;

use super::files;
use super::id::is_session;
use super::sessions::{Piece, is_placeholder, typed};
use crate::loose::{Number, Object, Text};
use crate::places::entries;
use crate::stored_sessions::{Draft, SessionFiles, StoredSession};

/// What is larger is not one of these files.
const LARGEST: u64 = 1 << 20;
/// The first prompt is among so many messages.
const FIRST_MESSAGES: usize = 8;

/// Adds the files of sessions.
pub(super) fn add(files: &mut SessionFiles, store: &Path) {
    for project in files.entries(&store.join("storage/session")) {
        files.add(&project, |name| name.strip_suffix(".json").is_some_and(is_session));
    }
}

/// Where the messages of a session's file are.
pub(super) fn messages(store: &Path, file: &Path) -> PathBuf {
    files::messages(store, &file.file_stem().unwrap_or_default().to_string_lossy())
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
struct Session<'a> {
    id: Text<'a>,
    #[serde(rename = "parentID")]
    parent: Text<'a>,
    title: Text<'a>,
    directory: Text<'a>,
    time: Object<Times>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Times {
    created: Number,
    updated: Number,
    archived: Number,
}

/// The session of a file, if a person began it and something was said in it.
pub(super) fn read(store: &Path, file: &Path) -> io::Result<Option<StoredSession>> {
    let text = read_regular_text(file, LARGEST)?;
    let wrong = || io::Error::new(io::ErrorKind::InvalidData, "it is not a session");
    let session: Session<'_> = serde_json::from_str(&text).map_err(|_| wrong())?;
    if !is_session(session.id.as_str()) {
        return Err(wrong());
    }
    let times = session.time.0.unwrap_or_default();
    let mut said = entries(&messages(store, file))?;
    if session.parent.filled().is_some() || times.archived.0.is_some() || said.is_empty() {
        return Ok(None);
    }
    // Their names are in the order of time.
    said.sort();
    let mut draft = Draft::default();
    draft.used_in(session.directory.get());
    draft.titled(session.title.get().filter(|title| !is_placeholder(title)));
    let time = |time: Number| time.0.map(|time| time as i64);
    Ok(Some(StoredSession {
        id: session.id.into_string(),
        title: draft.title,
        first_prompt: said.iter().take(FIRST_MESSAGES).find_map(|message| prompt(store, message)),
        dir: draft.dir,
        started_ms: time(times.created),
        used_ms: time(times.updated),
        messages: Some(said.len() as u64),
        file: file.to_owned(),
        ..StoredSession::default()
    }))
}

/// What the user typed, if a message is his.
fn prompt(store: &Path, message: &Path) -> Option<String> {
    let text = read_regular_text(message, LARGEST).ok()?;
    let by_user =
        serde_json::from_str::<Piece<'_>>(&text).is_ok_and(|message| message.role.as_str() == "user");
    let mut parts =
        entries(&store.join("storage/part").join(message.file_stem().filter(|_| by_user)?)).ok()?;
    parts.sort();
    parts.iter().find_map(|part| typed(&read_regular_text(part, LARGEST).ok()?))
}
