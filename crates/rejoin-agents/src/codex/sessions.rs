//! The sessions Codex keeps (0.65.0 to 0.166.0), for lists. Archived ones are left out, as in its own.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use uuid::Uuid;

use super::store::numbered;
use super::{segments, whole_session};
use crate::loose::{List, Number, Object, Text};
use crate::session_id::is_lower_case_uuid;
use crate::stored_sessions::{
    Draft, FileEnds, Follows, SessionFiles, SessionRecords, SessionStore, StoredSession, WholeSession,
    count_messages, one_of_each, read_session,
};

pub(super) struct CodexSessions {
    pub(super) store: PathBuf,
}

impl SessionStore for CodexSessions {
    fn files(&self) -> SessionFiles {
        let mut files = SessionFiles::default();
        let mut dirs = vec![self.store.join("sessions")];
        // Year, month, day.
        for _ in 0..3 {
            dirs =
                dirs.iter().flat_map(|dir| numbered(dir).unwrap_or_default()).map(|(_, dir)| dir).collect();
        }
        for day in dirs {
            files.add(&day, |name| id_in(name).is_some());
        }
        files
    }

    fn read(&self, file: &Path) -> io::Result<Vec<StoredSession>> {
        let session = if file.extension() == Some(OsStr::new("zst")) {
            Some(compressed(file)?)
        } else {
            read_session(file, || (CodexRecords::default(), Draft::default()))?
        };
        Ok(session.into_iter().collect())
    }

    fn count(&self, file: &Path, go_on: &dyn Fn() -> bool) -> Option<u64> {
        count_messages(file, (CodexRecords::default(), Draft::default()), go_on)
    }

    fn read_whole(&self, session: &StoredSession) -> io::Result<WholeSession> {
        let mut files = self.files();
        // What comes before a fork may have been archived.
        files.add(&self.store.join("archived_sessions"), |name| id_in(name).is_some());
        let segments = segments::of_session(session, files.files)?;
        let mut whole = whole_session::read(session, &segments)?;
        let title = session.title.clone();
        whole.title = title.or_else(|| names(&self.store).remove(&session.id)).or(whole.title);
        Ok(whole)
    }

    /// A fork or a rewind goes on in a file of its own: how the session begins stands in the one before it.
    fn join(&self, sessions: Vec<StoredSession>) -> Vec<StoredSession> {
        let mut files: HashMap<&str, Vec<&StoredSession>> = HashMap::new();
        for session in &sessions {
            files.entry(&session.id).or_default().push(session);
        }
        let beginnings: Vec<_> = sessions.iter().map(|session| beginning(session, &files)).collect();
        let names = names(&self.store);
        let mut sessions = sessions;
        for (session, beginning) in sessions.iter_mut().zip(beginnings) {
            session.first_prompt = beginning.or(session.first_prompt.take());
            if session.follows.is_some() {
                session.messages = None;
            }
        }
        let mut joined = one_of_each(sessions);
        // In which nothing was ever said.
        joined.retain(|session| session.first_prompt.is_some() || session.messages.is_none());
        for session in &mut joined {
            session.title = names.get(&session.id).cloned().or(session.title.take());
        }
        joined
    }
}

/// The first prompt of what comes before a session that goes on from another file.
fn beginning(session: &StoredSession, files: &HashMap<&str, Vec<&StoredSession>>) -> Option<String> {
    const DEEPEST: usize = 100;
    let mut session = session;
    let mut first = None;
    for _ in 0..DEEPEST {
        let Some(follows) = &session.follows else { break };
        let own = session.file.as_path();
        let is_before = |file: &&&StoredSession| {
            file.file != own && file.bytes.is_none_or(|bytes| bytes >= follows.bytes)
        };
        let Some(before) = files.get(follows.session.as_str()).and_then(|files| files.iter().find(is_before))
        else {
            break;
        };
        if before.prompt_end.is_some_and(|end| end <= follows.bytes) {
            first.clone_from(&before.first_prompt);
        }
        session = before;
    }
    first
}

/// The id in the name of a file: `rollout-<time>-<id>.jsonl`, after a rewind `rollout-<time>-<id>_<another>.jsonl`.
pub(super) fn id_in(name: &str) -> Option<&str> {
    let name = name.strip_prefix("rollout-")?;
    let name = name.strip_suffix(".jsonl").or_else(|| name.strip_suffix(".jsonl.zst"))?;
    let name =
        name.rsplit_once('_').filter(|(_, more)| is_lower_case_uuid(more)).map_or(name, |(name, _)| name);
    let id = name.get(name.len().checked_sub(36)?..)?;
    is_lower_case_uuid(id).then_some(id)
}

/// What was not used for long is compressed; of that only the name can be read, and what the id says of the time.
fn compressed(file: &Path) -> io::Result<StoredSession> {
    let size = FileEnds::read(file)?.size;
    let id = file.file_name().and_then(OsStr::to_str).and_then(id_in).unwrap_or_default();
    let began = Uuid::try_parse(id).ok().filter(|id| id.get_version_num() == 7);
    let began = began.and_then(|id| i64::try_from(id.as_u128() >> 80).ok());
    Ok(StoredSession {
        id: id.to_owned(),
        started_ms: began,
        used_ms: began,
        bytes: Some(size),
        file: file.to_owned(),
        ..StoredSession::default()
    })
}

/// The names people gave to sessions: the last one counts.
fn names(store: &Path) -> HashMap<String, String> {
    #[derive(Deserialize, Default)]
    #[serde(bound(deserialize = "'de: 'a"), default)]
    struct Named<'a> {
        id: Text<'a>,
        thread_name: Text<'a>,
    }
    let Ok(ends) = FileEnds::read(&store.join("session_index.jsonl")) else { return HashMap::new() };
    let named = ends.head().chain(ends.tail()).filter_map(|(line, _)| {
        let named: Named<'_> = serde_json::from_slice(line).ok()?;
        let mut draft = Draft::default();
        draft.titled(named.thread_name.get());
        Some((named.id.into_string(), draft.title?))
    });
    named.collect()
}

#[derive(Default)]
struct CodexRecords {
    /// A fork of 0.123 holds the first record of the other session, too.
    has_begun: bool,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
struct Record<'a> {
    timestamp: Text<'a>,
    #[serde(rename = "type")]
    kind: Text<'a>,
    payload: Object<Payload<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
struct Payload<'a> {
    #[serde(rename = "type")]
    kind: Text<'a>,
    id: Text<'a>,
    cwd: Text<'a>,
    git: Object<Git<'a>>,
    /// An object for reviews and sub-agents, else a word.
    source: Object<serde::de::IgnoredAny>,
    thread_source: Text<'a>,
    history_base: Object<Base<'a>>,
    thread_id: Text<'a>,
    thread_name: Text<'a>,
    message: Text<'a>,
    item: Object<Item<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(super) struct Git<'a> {
    pub(super) branch: Text<'a>,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(super) struct Base<'a> {
    pub(super) thread_id: Text<'a>,
    pub(super) end_byte_offset: Number,
    pub(super) end_ordinal_exclusive: Number,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
struct Item<'a> {
    #[serde(rename = "type")]
    kind: Text<'a>,
    content: List<Part<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(super) struct Part<'a> {
    #[serde(rename = "type")]
    pub(super) kind: Text<'a>,
    pub(super) text: Text<'a>,
    pub(super) path: Text<'a>,
}

impl SessionRecords for CodexRecords {
    type Record<'a> = Record<'a>;

    fn take_in(&mut self, record: Record<'_>, draft: &mut Draft) -> bool {
        let Some(payload) = record.payload.0 else { return false };
        match record.kind.as_str() {
            "session_meta" if !self.has_begun && payload.id.filled().is_some_and(is_lower_case_uuid) => {
                self.has_begun = true;
                draft.used_in(payload.cwd.get());
                draft.used_on(payload.git.0.and_then(|git| git.branch.into_filled()).as_deref());
                draft.is_subagent =
                    payload.source.0.is_some() || payload.thread_source.as_str() == "subagent";
                draft.follows = payload.history_base.0.and_then(|base| {
                    let bytes = base.end_byte_offset.count();
                    base.thread_id.into_filled().map(|session| Follows { session, bytes })
                });
                draft.id = payload.id.into_string();
            }
            "turn_context" => draft.used_in(payload.cwd.get()),
            "event_msg" => said(payload, draft),
            _ => {}
        }
        draft.seen_at(record.timestamp.as_str());
        // Without its first record nobody knows which session it is.
        self.has_begun
    }
}

/// What its own timeline shows: items from 0.166 on, else a record for each message.
fn said(payload: Payload<'_>, draft: &mut Draft) {
    match payload.kind.as_str() {
        "user_message" => draft.typed(typed(payload.message.as_str())),
        "agent_message" => draft.messages += 1,
        // A fork of 0.123 holds that of the other session, too.
        "thread_name_updated" if payload.thread_id.as_str() == draft.id => {
            draft.titled(payload.thread_name.get());
        }
        "item_completed" => {
            let item = payload.item.0.unwrap_or_default();
            match item.kind.as_str() {
                "UserMessage" => {
                    draft.typed(typed_in(&item.content.0).next().unwrap_or_default());
                }
                "AgentMessage" => draft.messages += 1,
                _ => {}
            }
        }
        _ => {}
    }
}

/// What was typed in a message of items.
pub(super) fn typed_in<'a>(content: &'a [Part<'_>]) -> impl Iterator<Item = &'a str> {
    content.iter().map(|part| part.text.as_str()).filter(|text| !text.trim().is_empty()).map(typed)
}

/// Editors put what is open and selected before what was typed.
pub(super) fn typed(text: &str) -> &str {
    const REQUEST: &str = "## My request for Codex:";
    match text.split_once(REQUEST) {
        Some((before, request)) if before.trim_start().starts_with("# Context from my IDE setup:") => request,
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_is_found_in_each_kind_of_name() {
        let (id, more) = ("01a1e340-9467-7780-89f7-450d2d417320", "01a1e340-b633-72f3-941f-5fea264d84cd");
        for end in [".jsonl", ".jsonl.zst", &format!("_{more}.jsonl")] {
            assert_eq!(id_in(&format!("rollout-2026-11-16T07-27-02-{id}{end}")), Some(id), "{end}");
        }
        for other in ["rollout-.jsonl", "rollout-é.jsonl", "x.jsonl", &format!("rollout-{id}.json")] {
            assert_eq!(id_in(other), None, "{other}");
        }
    }

    #[test]
    fn what_an_editor_adds_is_not_what_was_typed() {
        let text =
            "# Context from my IDE setup:\n\n## Open tabs:\n- a.rs\n\n## My request for Codex:\nfix it\n";
        assert_eq!(typed(text).trim(), "fix it");
        assert_eq!(typed("explain ## My request for Codex: x"), "explain ## My request for Codex: x");
    }
}
