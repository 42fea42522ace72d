//! The store of versions before the database (and before `session list`): a file for each session,
//! message and part of a message.
//!
//! Such a version could continue "the last session" (`-c`) where it did not name its own. That is
//! never asked of it: it takes whichever session is the newest of the directory, or silently a new
//! one, and tells which only once the prompt is in it. The session that is ours is found here by
//! the same proof beforehand, and then resumed by its id.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rejoin_core::SessionId;
use rejoin_files::{read_regular_file, read_regular_text};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::id;
use crate::loose::Text;

/// Nobody says or attaches more in one message.
const LARGEST: u64 = 64 << 20;

/// Where the messages of a session are.
pub(super) fn messages(store: &Path, session: &str) -> PathBuf {
    store.join("storage/message").join(session)
}

/// Whether every message of a session is one.
pub(super) fn are_whole(messages: &Path) -> io::Result<bool> {
    for entry in fs::read_dir(messages)? {
        if serde_json::from_slice::<IgnoredAny>(&read_regular_file(&entry?.path(), LARGEST)?).is_err() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether any message was ever stored.
pub(super) fn any(store: &Path) -> bool {
    !entries(&store.join("storage/message")).is_empty()
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
struct Session<'a> {
    id: Text<'a>,
    title: Text<'a>,
    directory: Text<'a>,
}

/// The only session that has this title and directory.
pub(super) fn titled(store: &Path, title: &str, dir: &str) -> Option<SessionId> {
    let projects = entries(&store.join("storage/session"));
    let mut ours = projects.iter().flat_map(|project| entries(project)).filter_map(|file| {
        let text = read_regular_text(&file, LARGEST).ok()?;
        let session: Session<'_> = serde_json::from_str(&text).ok()?;
        let is_ours = session.title.as_str() == title && session.directory.as_str() == dir;
        is_ours.then(|| id::session(session.id.as_str()).ok()).flatten()
    });
    ours.next().filter(|_| ours.next().is_none())
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
struct Piece<'a> {
    role: Text<'a>,
    text: Text<'a>,
}

/// Whether this prompt is the last thing the user said in a session.
pub(super) fn was_told(store: &Path, session: &SessionId, prompt: &str) -> bool {
    let read = |file: &PathBuf| read_regular_text(file, LARGEST).unwrap_or_default();
    // Their names are in the order of time.
    let mut messages = entries(&messages(store, session.as_str()));
    messages.sort();
    let by_user = |file: &&PathBuf| {
        serde_json::from_str::<Piece<'_>>(&read(file)).is_ok_and(|message| message.role.as_str() == "user")
    };
    let newest = messages.iter().rfind(by_user).and_then(|file| file.file_stem());
    newest.is_some_and(|message| {
        entries(&store.join("storage/part").join(message)).iter().any(|part| {
            // These versions put an empty argument and a new line before it.
            let is_prompt = |part: Piece<'_>| part.text.as_str().trim() == prompt.trim();
            serde_json::from_str(&read(part)).is_ok_and(is_prompt)
        })
    })
}

fn entries(dir: &Path) -> Vec<PathBuf> {
    fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipes;

    #[test]
    fn pipes_among_the_messages_are_not_waited_for() {
        let home = tempfile::tempdir().unwrap();
        let store = home.path().to_owned();
        let place = messages(&store, "ses_e1f622e5effeNebwavi3K0Zyvz");
        pipes::put(&place.join("msg_1.json"));
        pipes::put(&store.join("storage/session/p/ses_1.json"));
        assert!(pipes::not_waited_for(move || are_whole(&place)).is_err());
        let session = id::session("ses_e1f622e5effeNebwavi3K0Zyvz").unwrap();
        assert!(!pipes::not_waited_for(
            move || titled(&store, "t", "/p").is_some() || was_told(&store, &session, "x")
        ));
    }
}
