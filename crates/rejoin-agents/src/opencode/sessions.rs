//! The sessions OpenCode keeps in its database (1.15.4 to 1.18.33), or in files before that (1.1.31), for lists.
//! Archived ones are left out, as in its own.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::sqlite::{self, Database, Value, broken};
use super::sqlite_rows::{Row, Table};
use super::{file_sessions, store, whole_files, whole_rows};
use crate::loose::{Flag, Text};
use crate::stored_sessions::{Draft, SessionFiles, SessionStore, StoredSession, UnreadFile, WholeSession};

/// Nobody has so many sessions that listing them takes more.
const MOST_PAGES: usize = 2_000_000;
/// Of rows that are longer, the rest is not read.
const LONGEST_ROW: usize = 256 << 10;
/// The first prompt is among so many messages.
const FIRST_MESSAGES: usize = 8;

pub(super) struct OpenCodeSessions {
    pub(super) store: PathBuf,
}

impl SessionStore for OpenCodeSessions {
    fn files(&self) -> SessionFiles {
        let mut files = SessionFiles::default();
        match store::databases(&self.store) {
            Ok(databases) => files.files = databases,
            Err(error) => files.unread.push(UnreadFile { path: self.store.clone(), why: error.to_string() }),
        }
        // A version with a database knows nothing of the files of those before it.
        if files.files.is_empty() {
            file_sessions::add(&mut files, &self.store);
        }
        files
    }

    fn beside(&self, file: &Path) -> Option<PathBuf> {
        if is_one(file) {
            return Some(file_sessions::messages(&self.store, file));
        }
        let mut log = file.as_os_str().to_owned();
        log.push("-wal");
        Some(log.into())
    }

    fn read(&self, file: &Path) -> io::Result<Vec<StoredSession>> {
        if is_one(file) {
            return Ok(file_sessions::read(&self.store, file)?.into_iter().collect());
        }
        let read = sqlite::read_pages(file, MOST_PAGES, |database| Reading::new(database)?.sessions(file));
        Ok(read?.unwrap_or_default())
    }

    fn read_whole(&self, session: &StoredSession) -> io::Result<WholeSession> {
        let mut whole = if is_one(&session.file) {
            whole_files::read(&self.store, session)?
        } else {
            let read = |database: &mut Database| whole_rows::read(&mut Reading::new(database)?, session);
            let read = sqlite::read_pages(&session.file, MOST_PAGES, read)?;
            read.ok_or_else(|| broken("the database is empty"))?
        };
        whole.title = session.title.clone().or(whole.title);
        Ok(whole)
    }
}

/// Whether it is the file of one session.
fn is_one(file: &Path) -> bool {
    file.extension() == Some(OsStr::new("json"))
}

/// A database that is read.
pub(super) struct Reading<'a> {
    pub(super) database: &'a mut Database,
    pub(super) sessions: Table,
    pub(super) messages: Table,
    pub(super) parts: Table,
    pub(super) messages_of: u32,
    pub(super) parts_of: u32,
}

impl<'a> Reading<'a> {
    fn new(database: &'a mut Database) -> io::Result<Self> {
        let missing = || broken("no such index");
        Ok(Self {
            sessions: database.table("session")?,
            messages: database.table("message")?,
            parts: database.table("part")?,
            messages_of: database.index_on("message", "session_id")?.ok_or_else(missing)?,
            parts_of: database.index_on("part", "message_id")?.ok_or_else(missing)?,
            database,
        })
    }

    fn sessions(mut self, file: &Path) -> io::Result<Vec<StoredSession>> {
        let mut sessions = Vec::new();
        self.database.each_row(&self.sessions, LONGEST_ROW, &mut |row| {
            sessions.extend(session(row, file));
            Ok(())
        })?;
        for session in &mut sessions {
            self.look_into(session)?;
        }
        // In which nothing was said.
        sessions.retain(|session| session.messages != Some(0));
        Ok(sessions)
    }

    /// What its messages tell.
    fn look_into(&mut self, session: &mut StoredSession) -> io::Result<()> {
        let (mut count, mut first) = (0_u64, Vec::new());
        let mut used = session.used_ms;
        self.database.each_entry(self.messages_of, &session.id, &mut |entry| {
            count += 1;
            // Some versions do not note the end of a turn with the session.
            if let Some(Value::Integer(created)) = entry.get(1).filter(|_| entry.len() > 3) {
                used = used.max(Some(*created));
            }
            if let Some(Value::Integer(row)) = entry.last()
                && first.len() < FIRST_MESSAGES
            {
                first.push(*row);
            }
        })?;
        session.used_ms = used;
        session.messages = Some(count);
        for row in first {
            let by_user = self.database.row(&self.messages, row, LONGEST_ROW, |row| {
                let message: Piece<'_> = serde_json::from_str(row.text("data")?).ok()?;
                (message.role.as_str() == "user").then(|| row.text("id").map(str::to_owned))?
            })?;
            if let Some(message) = by_user.flatten() {
                session.first_prompt = self.typed_in(&message)?;
            }
            if session.first_prompt.is_some() {
                break;
            }
        }
        Ok(())
    }

    /// What the user typed in a message.
    fn typed_in(&mut self, message: &str) -> io::Result<Option<String>> {
        let mut parts = Vec::new();
        self.database.each_entry(self.parts_of, message, &mut |entry| {
            if let Some(Value::Integer(row)) = entry.last()
                && parts.len() < FIRST_MESSAGES
            {
                parts.push(*row);
            }
        })?;
        for row in parts {
            let text = self.database.row(&self.parts, row, LONGEST_ROW, |row| typed(row.text("data")?))?;
            if let Some(text) = text.flatten() {
                return Ok(Some(text));
            }
        }
        Ok(None)
    }
}

/// A row of the table of sessions, if a person began it.
fn session(row: &Row<'_>, file: &Path) -> Option<StoredSession> {
    if row.text("parent_id").is_some() || row.number("time_archived").is_some() {
        return None;
    }
    let mut draft = Draft::default();
    draft.used_in(row.text("directory"));
    draft.titled(row.text("title").filter(|title| !is_placeholder(title)));
    Some(StoredSession {
        id: row.text("id")?.to_owned(),
        title: draft.title,
        dir: draft.dir,
        started_ms: row.number("time_created"),
        used_ms: row.number("time_updated"),
        file: file.to_owned(),
        ..StoredSession::default()
    })
}

/// What it calls a session until the model has named it.
pub(super) fn is_placeholder(title: &str) -> bool {
    title.starts_with("New session - ")
}

/// A message, or a part of one.
#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(super) struct Piece<'a> {
    pub(super) role: Text<'a>,
    #[serde(rename = "type")]
    pub(super) kind: Text<'a>,
    pub(super) text: Text<'a>,
    synthetic: Flag,
}

impl Piece<'_> {
    /// What the user typed, as it is stored, if a part is that.
    pub(super) fn typed(&self) -> Option<&str> {
        let is_typed = self.kind.as_str() == "text" && !self.synthetic.is_set();
        self.text.filled().filter(|_| is_typed)
    }
}

/// The beginning of what the user typed, if a part is that.
pub(super) fn typed(part: &str) -> Option<String> {
    let part: Piece<'_> = serde_json::from_str(part).ok()?;
    let text = rejoin_core::compose::message_of(part.typed()?).trim();
    (!text.is_empty()).then(|| text[..text.floor_char_boundary(400)].to_owned())
}
