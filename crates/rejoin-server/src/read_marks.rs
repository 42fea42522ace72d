//! What was looked at: one small file for all of the user's devices.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use rejoin::ConversationId;
use rejoin_journal::private;
use serde::{Deserialize, Serialize};

use crate::problem::{Code, Problem};

/// Up to when each conversation was looked at.
pub(crate) struct ReadMarks {
    file: PathBuf,
    marks: Mutex<Marks>,
}

/// In milliseconds since 1970.
#[derive(Serialize, Deserialize)]
struct Marks {
    /// What was used before is taken as read: it was there before anybody could mark it.
    since: u64,
    read: BTreeMap<ConversationId, u64>,
}

/// So many are remembered; the oldest are forgotten, and count as read.
const MOST: usize = 20_000;

impl ReadMarks {
    /// Those of a home. A file that cannot be read is begun anew: it is a convenience, not history.
    pub(crate) fn open(home: &Path) -> Self {
        let file = home.join("read-marks.json");
        let read = std::fs::read(&file).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as u64;
        let marks = read.unwrap_or_else(|| Marks { since: now(), read: BTreeMap::new() });
        Self { file, marks: Mutex::new(marks) }
    }

    fn marks(&self) -> MutexGuard<'_, Marks> {
        self.marks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a conversation that was last used then was not looked at since.
    pub(crate) fn is_unread(&self, id: ConversationId, used_ms: u64) -> bool {
        let marks = self.marks();
        used_ms > marks.read.get(&id).copied().unwrap_or(marks.since)
    }

    /// It was looked at as it stood then; 0 for never.
    pub(crate) fn mark(&self, id: ConversationId, used_ms: u64) -> Result<(), Problem> {
        let mut marks = self.marks();
        marks.read.insert(id, used_ms);
        while marks.read.len() > MOST {
            let oldest = marks.read.iter().min_by_key(|(_, used)| **used).map(|(id, used)| (*id, *used));
            let Some((id, used)) = oldest else { break };
            marks.read.remove(&id);
            marks.since = marks.since.max(used);
        }
        self.write(&marks)
    }

    /// It is gone.
    pub(crate) fn forget(&self, id: ConversationId) {
        let mut marks = self.marks();
        if marks.read.remove(&id).is_some() {
            // A mark too many does no harm.
            let _ = self.write(&marks);
        }
    }

    fn write(&self, marks: &Marks) -> Result<(), Problem> {
        let refused =
            |error: String| Problem::new(Code::Internal, format!("what was read cannot be noted: {error}"));
        let text = serde_json::to_vec(marks).map_err(|error| refused(error.to_string()))?;
        private::write_atomically(&self.file, &text).map_err(|error| refused(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use uuid::Uuid;

    use super::*;

    #[test]
    fn what_ended_since_it_was_looked_at_is_unread_also_after_a_restart() {
        let home = tempfile::tempdir().unwrap();
        let marks = ReadMarks::open(home.path());
        let (since, id) = (marks.marks().since, ConversationId::new(Uuid::new_v4()));
        assert!(!marks.is_unread(id, since), "what was there before the first start");
        assert!(marks.is_unread(id, since + 5));
        marks.mark(id, since + 5).unwrap();
        let again = ReadMarks::open(home.path());
        assert!(!again.is_unread(id, since + 5));
        assert!(again.is_unread(id, since + 6));
        again.mark(id, 0).unwrap();
        assert!(again.is_unread(id, since + 5), "marked as unread");
        let files: Vec<_> =
            std::fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(files, [home.path().join("read-marks.json")], "no draft is left");
        assert_eq!(std::fs::metadata(&files[0]).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
