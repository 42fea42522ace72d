//! The sessions Pi keeps (0.52.12 to 0.85.0), for lists.

use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::typed::behind_files;
use super::whole_session;
use crate::loose::{Object, Text, TextOr};
use crate::stored_sessions::{
    Draft, SessionFiles, SessionRecords, SessionStore, StoredSession, WholeSession, count_messages,
    read_session,
};

pub(super) struct PiSessions {
    /// A directory with one for each project.
    pub(super) by_project: Option<PathBuf>,
    /// Directories with the sessions of all projects.
    pub(super) flat: Vec<PathBuf>,
}

impl SessionStore for PiSessions {
    fn files(&self) -> SessionFiles {
        let mut files = SessionFiles::default();
        let projects = self.by_project.as_deref().map(|dir| files.entries(dir)).unwrap_or_default();
        for dir in projects.iter().chain(&self.flat) {
            files.add(dir, is_session);
        }
        files
    }

    fn read(&self, file: &Path) -> io::Result<Vec<StoredSession>> {
        Ok(read_session(file, || (PiRecords, Draft::default()))?.into_iter().collect())
    }

    fn count(&self, file: &Path, go_on: &dyn Fn() -> bool) -> Option<u64> {
        count_messages(file, (PiRecords, Draft::default()), go_on)
    }

    fn read_whole(&self, session: &StoredSession) -> io::Result<WholeSession> {
        whole_session::read(&session.file)
    }
}

/// `<time>_<id>.jsonl`
fn is_session(name: &str) -> bool {
    let begins = name.bytes().next().is_some_and(|byte| byte.is_ascii_digit());
    begins && name.strip_suffix(".jsonl").is_some_and(|name| name.contains('_'))
}

struct PiRecords;

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
struct Record<'a> {
    #[serde(rename = "type")]
    kind: Text<'a>,
    id: Text<'a>,
    timestamp: Text<'a>,
    cwd: Text<'a>,
    name: Text<'a>,
    message: Object<Message<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
struct Message<'a> {
    role: Text<'a>,
    content: TextOr<'a, Block<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
struct Block<'a> {
    text: Text<'a>,
}

impl SessionRecords for PiRecords {
    type Record<'a> = Record<'a>;

    fn take_in(&mut self, record: Record<'_>, draft: &mut Draft) -> bool {
        if record.kind.filled().is_none() || record.id.filled().is_none() {
            return false;
        }
        draft.seen_at(record.timestamp.as_str());
        match record.kind.as_str() {
            "session" => {
                draft.used_in(record.cwd.get());
                draft.id = record.id.into_string();
                return true;
            }
            // Its name, wherever in the tree it stands.
            "session_info" => draft.titled(record.name.get()),
            "message" => {
                let message = record.message.0.unwrap_or_default();
                match message.role.as_str() {
                    "user" => draft.typed(typed(&message)),
                    "assistant" => draft.messages += 1,
                    _ => {}
                }
            }
            _ => {}
        }
        // Without the first line nobody knows which session it is.
        !draft.id.is_empty()
    }
}

/// What the user typed: the contents of attached files stand before it.
fn typed<'a>(message: &'a Message<'_>) -> &'a str {
    let text = match &message.content {
        TextOr::Text(text) => text,
        TextOr::Blocks(blocks) => {
            blocks.iter().map(|block| block.text.as_str()).find(|text| !text.trim().is_empty()).unwrap_or("")
        }
        TextOr::Neither => "",
    };
    behind_files(text).0
}
