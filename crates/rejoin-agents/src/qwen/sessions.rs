//! The sessions Qwen Code keeps (0.5.2 to 0.24.4), for lists. Sub-agents have files of their own elsewhere.

use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::typed_prompt::{is_of_the_user, typed};
use super::whole_session;
use crate::loose::{List, Object, Text};
use crate::session_id::is_lower_case_uuid;
use crate::stored_sessions::{
    Draft, SessionFiles, SessionRecords, SessionStore, StoredSession, WholeSession, count_messages,
    read_session,
};

pub(super) struct QwenSessions {
    /// Where it keeps what it writes while it runs: usually one place.
    pub(super) places: Vec<PathBuf>,
}

impl SessionStore for QwenSessions {
    fn files(&self) -> SessionFiles {
        let mut files = SessionFiles::default();
        for place in &self.places {
            for project in files.entries(&place.join("projects")) {
                let is_session = |name: &str| name.strip_suffix(".jsonl").is_some_and(is_lower_case_uuid);
                files.add(&project.join("chats"), is_session);
            }
        }
        files
    }

    fn read(&self, file: &Path) -> io::Result<Vec<StoredSession>> {
        Ok(read_session(file, || begin(file))?.into_iter().collect())
    }

    fn count(&self, file: &Path, go_on: &dyn Fn() -> bool) -> Option<u64> {
        count_messages(file, begin(file), go_on)
    }

    fn read_whole(&self, session: &StoredSession) -> io::Result<WholeSession> {
        whole_session::read(session)
    }
}

/// The file is named after the session.
fn begin(file: &Path) -> (QwenRecords, Draft) {
    let id = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    (QwenRecords::default(), Draft::of(id))
}

#[derive(Default)]
struct QwenRecords {
    /// What was typed, where the prompt that follows holds the contents of files, too.
    typed: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default, rename_all = "camelCase")]
struct Record<'a> {
    #[serde(rename = "type")]
    kind: Text<'a>,
    subtype: Text<'a>,
    session_id: Text<'a>,
    timestamp: Text<'a>,
    cwd: Text<'a>,
    git_branch: Text<'a>,
    provenance: Text<'a>,
    message: Object<Message<'a>>,
    system_payload: Object<Payload<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
struct Message<'a> {
    parts: List<Part<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
struct Part<'a> {
    text: Text<'a>,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default, rename_all = "camelCase")]
struct Payload<'a> {
    user_text: Text<'a>,
    custom_title: Text<'a>,
}

impl SessionRecords for QwenRecords {
    type Record<'a> = Record<'a>;

    fn take_in(&mut self, record: Record<'_>, draft: &mut Draft) -> bool {
        if record.kind.filled().is_none() || record.session_id.filled().is_none() {
            return false;
        }
        draft.seen_at(record.timestamp.as_str());
        draft.used_in(record.cwd.get());
        draft.used_on(record.git_branch.get());
        let payload = record.system_payload.0.unwrap_or_default();
        match (record.kind.as_str(), record.subtype.as_str()) {
            ("user", subtype) if is_of_the_user(subtype, &record.provenance) => {
                let parts = record.message.0.unwrap_or_default().parts.0;
                let text = typed(parts.iter().map(|part| part.text.as_str()));
                match (self.typed.take(), text) {
                    (Some(typed), _) => draft.typed(&typed),
                    (None, Some(text)) => draft.typed(text),
                    (None, None) => {}
                }
            }
            ("assistant", _) => draft.messages += 1,
            ("system", "at_command") => self.typed = payload.user_text.into_filled(),
            ("system", "custom_title") => draft.titled(payload.custom_title.get()),
            _ => {}
        }
        true
    }
}
