//! The sessions of conversations that were removed: they are not adopted again unless they are named.

use std::collections::HashSet;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;

use rejoin_core::SessionId;
use rejoin_files::read_regular_file;
use rejoin_journal::private;

use crate::error::cannot;
use crate::{Error, Rejoin};

/// More than anybody removes.
const LONGEST: u64 = 64 << 20;

impl Rejoin {
    /// The sessions whose conversations were removed here.
    pub(crate) fn removed_sessions(&self) -> Result<HashSet<SessionId>, Error> {
        let bytes = match read_regular_file(&self.removed_file(), LONGEST) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(HashSet::new()),
            Err(error) => {
                return Err(cannot("read removed-sessions.jsonl, which says what was removed")(error));
            }
        };
        // A line that is cut says nothing.
        let line = |line: &[u8]| serde_json::from_slice(line).ok();
        Ok(bytes.split(|byte| *byte == b'\n').filter_map(line).collect())
    }

    /// Remembers that the conversation of sessions was removed.
    pub(crate) fn note_removed<'a>(
        &self,
        sessions: impl Iterator<Item = &'a SessionId>,
    ) -> Result<(), Error> {
        let known = self.removed_sessions()?;
        // A line end first: what is cut there is ended.
        let mut lines = Vec::new();
        for session in sessions.filter(|session| !known.contains(session)) {
            let session = serde_json::to_string(session).unwrap_or_default();
            lines.extend_from_slice(format!("\n{session}\n").as_bytes());
        }
        if lines.is_empty() {
            return Ok(());
        }
        let mut file = private::open(OpenOptions::new().create(true).append(true), &self.removed_file())?;
        file.write_all(&lines).map_err(cannot("note what was removed"))
    }

    fn removed_file(&self) -> PathBuf {
        self.home().join("removed-sessions.jsonl")
    }
}
