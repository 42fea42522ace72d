//! The sessions Gemini keeps (0.19.1 to 0.61.0), for lists. Sub-agents lie in directories of their own.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rejoin_files::{open_regular_file, read_regular_file, read_regular_text};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::store::{Log, Message, Part, Record, is_hash};
use super::typed::typed;
use super::whole_session;
use crate::jsonc::LONGEST;
use crate::loose::TextOr;
use crate::stored_sessions::{
    Draft, FileEnds, SessionFiles, SessionStore, StoredSession, WholeSession, one_of_each,
};

/// The files of older versions are one value each, and must be read whole.
const LARGEST_VALUE: u64 = 32 << 20;

/// The first prompt is among so many.
const MOST_SAID: usize = 500;
/// A line may hold all messages.
pub(super) const LONGEST_LINE: u64 = 64 << 20;

pub(super) struct GeminiSessions {
    pub(super) store: PathBuf,
    /// Older versions note a directory only by its hash: these are tried.
    pub(super) here: PathBuf,
}

impl SessionStore for GeminiSessions {
    fn files(&self) -> SessionFiles {
        let mut files = SessionFiles::default();
        for project in files.entries(&self.store.join("tmp")) {
            files.add(&project.join("chats"), |name| {
                let kind = name.strip_prefix("session-").and_then(|name| name.rsplit_once('.'));
                kind.is_some_and(|(_, kind)| kind == "jsonl" || kind == "json")
            });
        }
        files
    }

    fn read(&self, file: &Path) -> io::Result<Vec<StoredSession>> {
        let session = if file.extension() == Some(OsStr::new("json")) { value(file) } else { log(file) };
        Ok(session?.into_iter().collect())
    }

    fn count(&self, file: &Path, go_on: &dyn Fn() -> bool) -> Option<u64> {
        let (file, _) = open_regular_file(file).ok()?;
        let mut file = BufReader::with_capacity(256 << 10, file);
        let (mut log, mut line) = (Log::default(), Vec::new());
        while go_on() {
            line.clear();
            if file.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line).ok()? == 0 {
                return Some(log.counted().count() as u64);
            }
            if let Ok(record) = serde_json::from_slice(&line) {
                log.take_in(record);
            }
        }
        None
    }

    fn read_whole(&self, session: &StoredSession) -> io::Result<WholeSession> {
        let mut whole = whole_session::read(session)?;
        let mut known = self.project_dirs(std::slice::from_ref(session));
        let dir = session.dir.clone().or_else(|| known.remove(project(&session.file)?));
        for turn in &mut whole.turns {
            turn.dir = turn.dir.take().or_else(|| dir.clone());
        }
        Ok(whole)
    }

    fn join(&self, mut sessions: Vec<StoredSession>) -> Vec<StoredSession> {
        let dirs = self.project_dirs(&sessions);
        for session in &mut sessions {
            session.dir = project(&session.file).and_then(|project| dirs.get(project).cloned());
        }
        one_of_each(sessions)
    }
}

impl GeminiSessions {
    /// The directories that projects' names stand for.
    fn project_dirs(&self, sessions: &[StoredSession]) -> HashMap<String, String> {
        let registry = read_regular_text(&self.store.join("projects.json"), LONGEST).unwrap_or_default();
        let registry: Value = serde_json::from_str(&registry).unwrap_or_default();
        let noted = registry.get("projects").and_then(Value::as_object);
        let noted: Vec<(&str, &str)> = noted
            .into_iter()
            .flatten()
            .filter_map(|(dir, name)| Some((name.as_str()?, dir.as_str())))
            .collect();
        let mut dirs: HashMap<String, String> = HashMap::new();
        let here = self.here.ancestors().filter_map(Path::to_str);
        for dir in here.chain(noted.iter().map(|(_, dir)| *dir)) {
            dirs.insert(hash_of(dir), dir.to_owned());
        }
        dirs.extend(noted.into_iter().map(|(name, dir)| (name.to_owned(), dir.to_owned())));
        for name in sessions.iter().filter_map(|session| project(&session.file)) {
            if !dirs.contains_key(name) && !is_hash(name) {
                let root = self.store.join("tmp").join(name).join(".project_root");
                let root = read_regular_text(&root, LONGEST).unwrap_or_default();
                if Path::new(root.trim()).is_absolute() {
                    dirs.insert(name.to_owned(), root.trim().to_owned());
                }
            }
        }
        dirs
    }
}

/// What older versions call the directory of a project.
fn hash_of(dir: &str) -> String {
    let mut hash = String::new();
    for byte in Sha256::digest(dir.as_bytes()) {
        let _ = write!(hash, "{byte:02x}");
    }
    hash
}

/// The name of the project that a session's file belongs to.
fn project(file: &Path) -> Option<&str> {
    file.parent()?.parent()?.file_name()?.to_str()
}

/// A file of lines.
fn log(file: &Path) -> io::Result<Option<StoredSession>> {
    let mut ends = FileEnds::read(file)?;
    let mut reading = Reading::default();
    reading.lines(ends.head().map(|(line, _)| line));
    if reading.said.is_empty() && ends.lengthen_head()? {
        reading = Reading::default();
        reading.lines(ends.head().map(|(line, _)| line));
    }
    reading.is_past_beginning = !ends.is_whole();
    reading.lines(ends.tail().map(|(line, _)| line));
    reading.finish(file, ends.size, ends.is_whole())
}

/// A file that is one value.
fn value(file: &Path) -> io::Result<Option<StoredSession>> {
    read_value(file, |bytes| {
        let mut reading = Reading::default();
        reading.lines(std::iter::once(bytes));
        reading.finish(file, bytes.len() as u64, true)
    })
}

/// Reads a file that is one value. It is emptied before it is written anew, so what is not understood is looked
/// at again.
pub(super) fn read_value<T>(file: &Path, read: impl Fn(&[u8]) -> io::Result<T>) -> io::Result<T> {
    const LOOKS: usize = 3;
    const PAUSE: Duration = Duration::from_millis(15);
    let mut looks = 1;
    loop {
        let understood = read(&read_regular_file(file, LARGEST_VALUE)?);
        if understood.is_ok() || looks == LOOKS {
            return understood;
        }
        looks += 1;
        std::thread::sleep(PAUSE);
    }
}

/// A file that is being read.
#[derive(Default)]
struct Reading {
    log: Log,
    draft: Draft,
    /// What the user typed, each with the id of its message, in the order it was written down.
    said: Vec<(String, String)>,
    /// What began it before all messages were replaced by a summary.
    summarized: Option<String>,
    is_past_beginning: bool,
}

impl Reading {
    fn lines<'a>(&mut self, lines: impl Iterator<Item = &'a [u8]>) {
        for line in lines {
            if let Ok(record) = serde_json::from_slice::<Record<'_>>(line) {
                self.take_in(record);
            }
        }
    }

    fn take_in(&mut self, record: Record<'_>) {
        for time in [&record.start_time, &record.timestamp, &record.last_updated] {
            self.draft.seen_at(time.as_str());
        }
        if let Some(set) = &record.set.0 {
            self.draft.seen_at(set.last_updated.as_str());
            self.draft.titled(set.summary.get());
        }
        self.draft.titled(record.summary.get());
        let mut said = Vec::new();
        let set = record.set.0.as_ref().and_then(|set| set.messages.as_ref());
        if let Some(list) = set.or(record.messages.as_ref()) {
            said.extend(list.0.iter().filter_map(typed_in));
        } else {
            let text = beginning(record.role.as_str(), &record.content, &record.display);
            said.extend(text.map(|text| (record.id.as_str().to_owned(), text)));
        }
        let replaces = record.set.0.as_ref().is_some_and(|set| set.messages.is_some());
        if replaces {
            let before = self.first().map(|(_, text)| text.to_owned());
            let counted: Vec<String> = self.log.counted().map(str::to_owned).collect();
            self.log.take_in(record);
            if self.log.has_words() && !counted.iter().any(|id| self.log.has(id)) {
                self.summarized = self.summarized.take().or(before);
            }
        } else {
            self.log.take_in(record);
        }
        for (id, text) in said {
            let room = !self.is_past_beginning && self.said.len() < MOST_SAID;
            if room && !self.said.iter().any(|(known, _)| *known == id) {
                self.said.push((id, text));
            }
        }
    }

    /// The first of what was typed that was not taken back: a prompt that failed is.
    fn first(&self) -> Option<(&str, &str)> {
        let (id, text) = self.said.iter().find(|(id, _)| self.log.has(id))?;
        Some((id, text))
    }

    fn finish(mut self, file: &Path, size: u64, is_whole: bool) -> io::Result<Option<StoredSession>> {
        if self.log.session.is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "no record in it was understood"));
        }
        if is_whole && !self.log.has_words() {
            return Ok(None);
        }
        let first = self.summarized.clone().or_else(|| self.first().map(|(_, text)| text.to_owned()));
        // Of a long one it is not known what was taken back.
        let first = first.or_else(|| self.said.first().map(|(_, text)| text.clone()).filter(|_| !is_whole));
        self.draft.typed(&first.unwrap_or_default());
        self.draft.id = std::mem::take(&mut self.log.session);
        self.draft.is_subagent = self.log.subagent;
        self.draft.messages = self.log.counted().count() as u64;
        Ok(self.draft.finish(file, size, is_whole))
    }
}

fn typed_in(message: &Message<'_>) -> Option<(String, String)> {
    let text = beginning(message.role.as_str(), &message.content, &message.display)?;
    Some((message.id.as_str().to_owned(), text))
}

/// The beginning of what the user typed.
fn beginning<'a>(
    role: &str,
    content: &TextOr<'a, Part<'a>>,
    display: &TextOr<'a, Part<'a>>,
) -> Option<String> {
    let text = typed(role, content, display)?;
    Some(text[..text.floor_char_boundary(1000)].to_owned())
}
