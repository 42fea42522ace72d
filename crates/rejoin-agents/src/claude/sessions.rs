//! The sessions Claude Code keeps (2.0.34 to 2.1.325), for lists. Sub-agents have files of their own elsewhere, or
//! under names that are no ids.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

use rejoin_files::read_regular_text;
use serde::Deserialize;

use super::typed_prompt::{TextBlock, is_injected, typed};
use super::whole_session;
use crate::loose::{Flag, Object, Text, TextOr};
use crate::session_id::is_lower_case_uuid;
use crate::stored_sessions::{
    Draft, SessionFiles, SessionRecords, SessionStore, StoredSession, WholeSession, count_messages,
    read_session,
};

pub(super) struct ClaudeSessions {
    pub(super) projects: PathBuf,
}

impl SessionStore for ClaudeSessions {
    fn files(&self) -> SessionFiles {
        let mut files = SessionFiles::default();
        for project in files.entries(&self.projects) {
            files.add(&project, |name| name.strip_suffix(".jsonl").is_some_and(is_lower_case_uuid));
        }
        files
    }

    fn read(&self, file: &Path) -> io::Result<Vec<StoredSession>> {
        let session = read_session(file, || begin(file))?;
        Ok(session.map(|session| with_own_title(session, file)).into_iter().collect())
    }

    fn count(&self, file: &Path, go_on: &dyn Fn() -> bool) -> Option<u64> {
        count_messages(file, begin(file), go_on)
    }

    fn read_whole(&self, session: &StoredSession) -> io::Result<WholeSession> {
        whole_session::read(session)
    }
}

/// The file is named after the session; its records name others where they were copied.
fn begin(file: &Path) -> (ClaudeRecords, Draft) {
    let id = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    (ClaudeRecords::default(), Draft::of(id))
}

/// A name that was given early is not at the end of a long file; 2.1.325 keeps it beside, too.
fn with_own_title(mut session: StoredSession, file: &Path) -> StoredSession {
    const LARGEST: u64 = 64 << 10;
    #[derive(Deserialize, Default)]
    #[serde(bound(deserialize = "'de: 'a"), default)]
    struct OwnTitle<'a> {
        #[serde(rename = "customTitle")]
        title: Text<'a>,
    }
    if session.messages.is_none()
        && let Ok(text) = read_regular_text(&file.with_extension("").join("custom-title.json"), LARGEST)
        && let Ok(own) = serde_json::from_str::<OwnTitle<'_>>(&text)
    {
        let mut draft = Draft::default();
        draft.titled(own.title.get());
        session.title = draft.title.or(session.title);
    }
    session
}

#[derive(Default)]
struct ClaudeRecords {
    has_own_title: bool,
    /// An answer is several records with one id. Their hashes are enough to tell them apart.
    answers: HashSet<u64>,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default, rename_all = "camelCase")]
struct Record<'a> {
    #[serde(rename = "type")]
    kind: Text<'a>,
    session_id: Text<'a>,
    cwd: Text<'a>,
    git_branch: Text<'a>,
    timestamp: Text<'a>,
    is_sidechain: Flag,
    is_meta: Flag,
    is_compact_summary: Flag,
    origin: Object<RecordOrigin<'a>>,
    message: Object<Message<'a>>,
    custom_title: Text<'a>,
    ai_title: Text<'a>,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
struct RecordOrigin<'a> {
    kind: Text<'a>,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
struct Message<'a> {
    id: Text<'a>,
    content: TextOr<'a, Block<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
struct Block<'a> {
    #[serde(rename = "type")]
    kind: Text<'a>,
    text: Text<'a>,
}

impl SessionRecords for ClaudeRecords {
    type Record<'a> = Record<'a>;

    fn take_in(&mut self, record: Record<'_>, draft: &mut Draft) -> bool {
        if record.kind.filled().is_none() || record.session_id.filled().is_none() {
            return false;
        }
        if record.is_sidechain.is_set() {
            return true;
        }
        draft.seen_at(record.timestamp.as_str());
        draft.used_in(record.cwd.get());
        draft.used_on(record.git_branch.get());
        match record.kind.as_str() {
            "user" => {
                if let Some(typed) = typed_in(&record) {
                    draft.typed(&typed);
                }
            }
            "assistant" => {
                let mut hasher = DefaultHasher::new();
                record.message.0.unwrap_or_default().id.as_str().hash(&mut hasher);
                draft.messages += u64::from(self.answers.insert(hasher.finish()));
            }
            // What the user calls it counts more than what the model does.
            "custom-title" => {
                self.has_own_title = true;
                draft.titled(record.custom_title.get());
            }
            "ai-title" if !self.has_own_title => draft.titled(record.ai_title.get()),
            _ => {}
        }
        true
    }
}

impl TextBlock for Block<'_> {
    fn kind(&self) -> &str {
        self.kind.as_str()
    }

    fn text(&self) -> &str {
        self.text.as_str()
    }
}

fn typed_in(record: &Record<'_>) -> Option<String> {
    let origin = record.origin.0.as_ref().map_or("", |origin| origin.kind.as_str());
    if is_injected(record.is_meta, record.is_compact_summary, origin) {
        return None;
    }
    typed(&record.message.0.as_ref()?.content)
}
