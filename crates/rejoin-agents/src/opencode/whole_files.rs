//! A whole session of the versions before the database (1.1.31): a file for each message and each part of one.

use std::io;
use std::path::Path;

use rejoin_files::read_regular_text;
use serde::Deserialize;
use serde_json::Value;

use super::file_sessions::messages;
use super::whole_session::{AboutSession, Reading, StoredMessage, Times};
use crate::loose::{Object, Text};
use crate::places::entries;
use crate::stored_sessions::{LARGEST_SESSION, StoredSession, WholeSession, too_large};

/// Nobody says or attaches more in one message.
const LARGEST_FILE: u64 = 64 << 20;

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
struct Session<'a> {
    #[serde(rename = "parentID")]
    parent: Text<'a>,
    title: Text<'a>,
    directory: Text<'a>,
    revert: Value,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Timed {
    time: Object<Times>,
}

/// Reads a session.
pub(super) fn read(store: &Path, session: &StoredSession) -> io::Result<WholeSession> {
    let text = read_regular_text(&session.file, LARGEST_FILE)?;
    let wrong = |_| io::Error::new(io::ErrorKind::InvalidData, "it is not a session");
    let told: Session<'_> = serde_json::from_str(&text).map_err(wrong)?;
    let mut reading = Reading::new(AboutSession {
        id: session.id.clone(),
        parent: told.parent.into_filled(),
        title: told.title.into_filled(),
        dir: told.directory.into_filled(),
        revert: told.revert.is_object().then(|| told.revert.to_string()),
    });
    let mut left = LARGEST_SESSION;
    let mut said: Vec<(u64, String, String)> = files(&messages(store, &session.file), &mut left)?
        .into_iter()
        .map(|(id, data)| {
            let timed: Timed = serde_json::from_str(&data).unwrap_or_default();
            (timed.time.0.unwrap_or_default().created.count(), id, data)
        })
        .collect();
    said.sort();
    for (_, id, data) in said {
        let parts = files(&store.join("storage/part").join(&id), &mut left)?;
        reading.take(StoredMessage { id, data, parts });
    }
    Ok(reading.finish())
}

/// The files of a directory by their names, which are ids.
fn files(dir: &Path, left: &mut u64) -> io::Result<Vec<(String, String)>> {
    let mut files = Vec::new();
    for file in entries(dir)? {
        let Some(id) = file.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned) else { continue };
        // One that was torn is not understood, and counted as such.
        let text = match read_regular_text(&file, LARGEST_FILE.min(*left)) {
            Err(error) if error.kind() == io::ErrorKind::InvalidData => String::new(),
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => return Err(too_large()),
            read => read?,
        };
        *left -= text.len() as u64;
        files.push((id, text));
    }
    files.sort();
    Ok(files)
}
