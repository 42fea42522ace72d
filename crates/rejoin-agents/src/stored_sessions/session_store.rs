use std::collections::HashMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::WholeSession;

/// Nobody keeps more; what lies beyond is not looked at.
const MOST_FILES: usize = 200_000;

/// The sessions in an agent's store. Looking at them changes nothing there: no lock is taken, nothing is written.
pub trait SessionStore: Send + Sync {
    /// The files that may hold sessions.
    fn files(&self) -> SessionFiles;

    /// What stands beside a file and belongs to it: when that changes, the file is read again.
    fn beside(&self, _file: &Path) -> Option<PathBuf> {
        None
    }

    /// What the head and the tail of a file tell. Nothing, if it holds no session a person began: a sub-agent's,
    /// or one in which nothing was said. An error, if it is not understood.
    fn read(&self, file: &Path) -> io::Result<Vec<StoredSession>>;

    /// How many messages the session in a file has, for one too long to be known from its ends. All of it is
    /// read, as long as `go_on` says so.
    fn count(&self, _file: &Path, _go_on: &dyn Fn() -> bool) -> Option<u64> {
        None
    }

    /// All that was said and done in a session that [`read`](SessionStore::read) found. An error of the kind
    /// `Unsupported`, as by default, if this store's sessions cannot be read whole.
    fn read_whole(&self, _session: &StoredSession) -> io::Result<WholeSession> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "sessions of this kind cannot be read whole"))
    }

    /// The sessions that come of everything that was read: one may lie in several files, and what it is called
    /// or where it was run may be told elsewhere.
    fn join(&self, sessions: Vec<StoredSession>) -> Vec<StoredSession> {
        one_of_each(sessions)
    }
}

/// A session as a file of the store tells of it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct StoredSession {
    /// The agent's own id; not yet checked.
    pub id: String,
    /// The name it was given, by the user or by the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The beginning of what the user typed first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_prompt: Option<String>,
    /// The directory it was last used in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dir: Option<String>,
    /// The git branch it was last used on, where the agent notes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// When it began, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_ms: Option<i64>,
    /// When it was last used, as its records say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used_ms: Option<i64>,
    /// Prompts and answers; `None` if that would take reading all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<u64>,
    /// How large it is; `None` where several share a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The file it lies in.
    #[serde(skip)]
    pub file: PathBuf,
    /// What comes before it lies in another file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub follows: Option<Follows>,
    /// Where in the file the record of the first prompt ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_end: Option<u64>,
}

/// A session goes on where another, or an earlier file of its own, stood at that time.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Follows {
    /// Which one.
    pub session: String,
    /// So much of its file comes before.
    pub bytes: u64,
}

/// A file, or a directory, that could not be understood.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnreadFile {
    /// Where it is.
    pub path: PathBuf,
    /// What is the matter.
    pub why: String,
}

/// The files of a store that may hold sessions.
#[derive(Debug, Default)]
pub struct SessionFiles {
    /// They need not be files: only their names were looked at.
    pub files: Vec<PathBuf>,
    /// Directories that could not be looked into.
    pub unread: Vec<UnreadFile>,
}

impl SessionFiles {
    /// What is in a directory; nothing, if there is none.
    pub(crate) fn entries(&mut self, dir: &Path) -> Vec<PathBuf> {
        match crate::places::entries(dir) {
            Ok(entries) => entries,
            Err(error) => {
                self.unread.push(UnreadFile { path: dir.to_owned(), why: error.to_string() });
                Vec::new()
            }
        }
    }

    /// Adds the files of a directory whose names are such.
    pub(crate) fn add(&mut self, dir: &Path, is_such: impl Fn(&str) -> bool) {
        let named = |path: &PathBuf| path.file_name().and_then(|name| name.to_str()).is_some_and(&is_such);
        let room = MOST_FILES.saturating_sub(self.files.len());
        let such: Vec<PathBuf> = self.entries(dir).into_iter().filter(named).take(room).collect();
        self.files.extend(such);
    }
}

/// How a file looks from outside. One that looks the same holds the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FileStamp {
    inode: u64,
    size: u64,
    modified: i128,
}

impl FileStamp {
    /// How a file looks now; `None` if it is not there.
    pub fn of(path: &Path) -> Option<Self> {
        let meta = fs::metadata(path).ok()?;
        let modified = i128::from(meta.mtime()) * 1_000_000_000 + i128::from(meta.mtime_nsec());
        Some(Self { inode: meta.ino(), size: meta.size(), modified })
    }

    /// When it was last written, in milliseconds since 1970.
    pub fn modified_ms(&self) -> i64 {
        i64::try_from(self.modified / 1_000_000).unwrap_or_default()
    }
}

/// Of several files of a session the one used last counts; what it does not tell, the others may.
pub(crate) fn one_of_each(mut sessions: Vec<StoredSession>) -> Vec<StoredSession> {
    sessions.sort_by(|one, other| (other.used_ms, &other.file).cmp(&(one.used_ms, &one.file)));
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut joined: Vec<StoredSession> = Vec::new();
    for session in sessions {
        if let Some(newest) = places.get(&session.id).and_then(|place| joined.get_mut(*place)) {
            newest.title = newest.title.take().or(session.title);
            newest.first_prompt = newest.first_prompt.take().or(session.first_prompt);
            newest.dir = newest.dir.take().or(session.dir);
            newest.branch = newest.branch.take().or(session.branch);
            newest.started_ms = newest.started_ms.into_iter().chain(session.started_ms).min();
        } else {
            places.insert(session.id.clone(), joined.len());
            joined.push(session);
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_in_two_files_is_listed_once_as_the_one_used_last_tells() {
        let session = |id: &str, used: i64, dir: Option<&str>, title: Option<&str>| StoredSession {
            id: id.into(),
            used_ms: Some(used),
            started_ms: Some(used),
            dir: dir.map(str::to_owned),
            title: title.map(str::to_owned),
            ..StoredSession::default()
        };
        let joined = one_of_each(vec![
            session("a", 1, Some("/old"), Some("name")),
            session("b", 2, None, None),
            session("a", 3, Some("/new"), None),
        ]);
        let a = StoredSession { started_ms: Some(1), ..session("a", 3, Some("/new"), Some("name")) };
        assert_eq!(joined, [a, session("b", 2, None, None)]);
    }
}
