//! Where Gemini (0.61.0) keeps its sessions: files in `tmp/<project>/chats`, each a log of what was added,
//! replaced and taken back.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use rejoin_core::{SessionId, Witness};
use rejoin_files::read_regular_text;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::typed::HasText;
use crate::Found;
use crate::jsonc::LONGEST;
use crate::loose::{List, Object, Text, TextOr};
use crate::places::entries;

/// Nobody talks so much; what lies beyond is not looked at.
const FARTHEST: u64 = 512 << 20;
/// Gemini has a directory here for each project.
const MOST_PROJECTS: usize = 10_000;

/// Looks for the file of a session that was run in `dir`, and says how far the conversation in it goes.
pub(super) fn find(store: &Path, dir: &Path, session: &SessionId) -> (Found, Option<Witness>) {
    let found = projects(store, dir).and_then(|projects| {
        for project in projects {
            if let Some((file, log)) = in_project(&project.join("chats"), session)? {
                let witness = log.witness(&file);
                return Ok((Found::At(file), Some(witness)));
            }
        }
        Ok((Found::Nowhere, None))
    });
    found.unwrap_or((Found::CannotTell, None))
}

/// How far the conversation in a file goes. The size and time of the file are no sign of use:
/// Gemini also notes titles and times there.
pub(super) fn witness(file: &Path, session: &SessionId) -> Option<Witness> {
    let log = Log::read(file).ok().filter(|log| log.is_of(session))?;
    Some(log.witness(file))
}

/// Removes the files without a word that resuming a session leaves next to the real one.
///
/// They are a danger to it: the next Gemini that starts in the directory takes such a file for
/// broken and deletes all files of that session, the real one too, unless it is told not to.
/// Nothing is lost with them, and Gemini itself would have deleted them.
pub(super) fn tidy(store: &Path, dir: &Path, session: &SessionId) {
    const LARGEST: u64 = 1 << 20;
    let (Found::At(real), _) = find(store, dir, session) else {
        return;
    };
    let others = real.parent().and_then(|chats| files_of(chats, session.as_str()).ok()).unwrap_or_default();
    for file in others.into_iter().filter(|file| *file != real) {
        let small = fs::metadata(&file).is_ok_and(|meta| meta.len() <= LARGEST);
        let empty = small && Log::read(&file).is_ok_and(|log| log.is_nothing_of(session));
        if empty {
            let _ = fs::remove_file(file);
        }
    }
}

/// The directories a project's sessions may be in, the likeliest first: the one noted for it, those
/// that name it, and those of older versions, whose names are hashes.
fn projects(store: &Path, dir: &Path) -> io::Result<Vec<PathBuf>> {
    let all = store.join("tmp");
    let mut projects: Vec<PathBuf> = noted(store, dir).map(|name| all.join(name)).into_iter().collect();
    let mut hashes = Vec::new();
    for entry in entries(&all)?.into_iter().take(MOST_PROJECTS) {
        let name = entry.file_name().unwrap_or_default().to_string_lossy();
        let owner = read_regular_text(&entry.join(".project_root"), LONGEST).unwrap_or_default();
        if Path::new(owner.trim()) == dir {
            projects.push(entry);
        } else if is_hash(&name) {
            hashes.push(entry);
        }
    }
    projects.extend(hashes);
    Ok(projects)
}

/// Whether older versions named a project's directory: by the hash of its path.
pub(super) fn is_hash(name: &str) -> bool {
    name.len() == 64 && name.bytes().all(|b| b.is_ascii_hexdigit())
}

/// The name Gemini gave to a project.
fn noted(store: &Path, dir: &Path) -> Option<String> {
    let text = read_regular_text(&store.join("projects.json"), LONGEST).ok()?;
    let registry: Value = serde_json::from_str(&text).ok()?;
    let name = registry.get("projects")?.get(dir.to_str()?)?.as_str()?;
    let plain = name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    plain.then(|| name.to_owned())
}

/// A session may have several files, of which all but one hold no word of it.
fn in_project(chats: &Path, session: &SessionId) -> io::Result<Option<(PathBuf, Log)>> {
    let mut files = files_of(chats, session.as_str())?;
    files.sort_by_cached_key(|file| fs::metadata(file).and_then(|meta| meta.modified()).ok());
    for file in files.into_iter().rev() {
        let log = Log::read(&file)?;
        if log.is_of(session) {
            return Ok(Some((file, log)));
        }
    }
    Ok(None)
}

/// The files that may be a session's, by their names.
pub(super) fn files_of(chats: &Path, session: &str) -> io::Result<Vec<PathBuf>> {
    let short = session.get(..8).unwrap_or_default();
    let ends = [format!("-{short}.jsonl"), format!("-{short}.json")];
    let ours = |file: &PathBuf| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("session-") && ends.iter().any(|end| name.ends_with(end))
    };
    Ok(entries(chats)?.into_iter().filter(ours).collect())
}

/// One line of the log, or the whole of an older file.
#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(super) struct Record<'a> {
    #[serde(rename = "sessionId")]
    session: Text<'a>,
    kind: Text<'a>,
    #[serde(rename = "startTime")]
    pub(super) start_time: Text<'a>,
    #[serde(rename = "lastUpdated")]
    pub(super) last_updated: Text<'a>,
    pub(super) summary: Text<'a>,
    pub(super) messages: Option<List<Message<'a>>>,
    #[serde(rename = "$set")]
    pub(super) set: Object<Set<'a>>,
    #[serde(rename = "$rewindTo")]
    rewind_to: Text<'a>,
    // A message is a line of its own.
    pub(super) id: Text<'a>,
    pub(super) timestamp: Text<'a>,
    #[serde(rename = "type")]
    pub(super) role: Text<'a>,
    pub(super) content: TextOr<'a, Part<'a>>,
    #[serde(rename = "displayContent")]
    pub(super) display: TextOr<'a, Part<'a>>,
    #[serde(rename = "toolCalls")]
    tool_calls: List<IgnoredAny>,
    thoughts: List<IgnoredAny>,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(super) struct Set<'a> {
    #[serde(rename = "sessionId")]
    session: Text<'a>,
    #[serde(rename = "lastUpdated")]
    pub(super) last_updated: Text<'a>,
    pub(super) summary: Text<'a>,
    pub(super) messages: Option<List<Message<'a>>>,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(super) struct Message<'a> {
    pub(super) id: Text<'a>,
    #[serde(rename = "type")]
    pub(super) role: Text<'a>,
    pub(super) content: TextOr<'a, Part<'a>>,
    #[serde(rename = "displayContent")]
    pub(super) display: TextOr<'a, Part<'a>>,
    #[serde(rename = "toolCalls")]
    tool_calls: List<IgnoredAny>,
    thoughts: List<IgnoredAny>,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(super) struct Part<'a> {
    pub(super) text: Text<'a>,
}

impl HasText for Part<'_> {
    fn text(&self) -> &str {
        self.text.as_str()
    }
}

impl Message<'_> {
    /// Whether Gemini counts it as a part of a conversation: a session without any such message is
    /// none to it.
    fn counts(&self) -> bool {
        let text = match &self.content {
            TextOr::Text(text) => text.trim(),
            TextOr::Blocks(parts) => {
                parts.iter().map(|part| part.text.as_str().trim()).find(|text| !text.is_empty()).unwrap_or("")
            }
            TextOr::Neither => "",
        };
        match self.role.as_str() {
            "user" => {
                let set_up = ["/", "?", "<session_context>", "<hook_context>"];
                !text.is_empty() && !set_up.iter().any(|start| text.starts_with(start))
            }
            "gemini" => !text.is_empty() || !self.tool_calls.0.is_empty() || !self.thoughts.0.is_empty(),
            _ => false,
        }
    }
}

/// What a file comes to.
#[derive(Default)]
pub(super) struct Log {
    pub(super) session: String,
    pub(super) subagent: bool,
    /// Ids of the messages that are left, and whether each counts.
    messages: Vec<(String, bool)>,
    places: HashMap<String, usize>,
    /// Where the last line ends that changed them.
    end: u64,
}

impl Log {
    fn read(file: &Path) -> io::Result<Self> {
        let mut log = Self::default();
        let mut reader = BufReader::new(File::open(file)?).take(FARTHEST);
        let (mut line, mut at) = (Vec::new(), 0);
        let whole = file.extension().is_some_and(|extension| extension == "json");
        loop {
            line.clear();
            let read =
                if whole { reader.read_to_end(&mut line)? } else { reader.read_until(b'\n', &mut line)? };
            if read == 0 {
                return Ok(log);
            }
            at += read as u64;
            if let Ok(record) = serde_json::from_slice::<Record<'_>>(&line)
                && log.take_in(record)
            {
                log.end = at;
            }
        }
    }

    fn witness(&self, file: &Path) -> Witness {
        Witness { path: file.to_string_lossy().into_owned(), size: self.end, mtime: 0 }
    }

    /// It holds something of that session.
    fn is_of(&self, session: &SessionId) -> bool {
        self.session == session.as_str() && !self.subagent && self.has_words()
    }

    /// It was begun for that session, and holds nothing of it.
    fn is_nothing_of(&self, session: &SessionId) -> bool {
        self.session == session.as_str() && !self.subagent && !self.has_words()
    }

    pub(super) fn has_words(&self) -> bool {
        self.messages.iter().any(|(_, counts)| *counts)
    }

    /// Whether this message is left.
    pub(super) fn has(&self, id: &str) -> bool {
        self.places.contains_key(id)
    }

    /// The ids of the messages that are left and count.
    pub(super) fn counted(&self) -> impl Iterator<Item = &str> {
        self.messages.iter().filter(|(_, counts)| *counts).map(|(id, _)| id.as_str())
    }

    /// Says whether the messages changed.
    pub(super) fn take_in(&mut self, record: Record<'_>) -> bool {
        let set = record.set.0.unwrap_or_default();
        for named in [record.session, set.session].into_iter().filter_map(Text::into_filled) {
            self.session = named;
        }
        self.subagent |= record.kind.as_str() == "subagent";
        if let Some(first) = record.rewind_to.filled() {
            let keep = self.places.get(first).copied().unwrap_or(0);
            for (id, _) in self.messages.drain(keep..) {
                self.places.remove(&id);
            }
        } else if let Some(messages) = set.messages {
            self.messages.clear();
            self.places.clear();
            self.put(messages.0);
        } else if let Some(messages) = record.messages {
            self.put(messages.0);
        } else if record.id.filled().is_some() {
            let Record { id, role, content, display, tool_calls, thoughts, .. } = record;
            self.put(vec![Message { id, role, content, display, tool_calls, thoughts }]);
        } else {
            return false;
        }
        true
    }

    fn put(&mut self, messages: Vec<Message<'_>>) {
        for message in messages {
            let counts = message.counts();
            let id = message.id.into_string();
            if let Some(place) = self.places.get(&id) {
                self.messages[*place].1 = counts;
            } else {
                self.places.insert(id.clone(), self.messages.len());
                self.messages.push((id, counts));
            }
        }
    }
}
