//! A journal goes to another project in two steps: a record in it says so, then its file is renamed. A marker
//! in the directory it goes to, made before both, lets whoever looks there finish what a kill cut off; without
//! it the conversation would be found in neither project.

use std::fs::{self, DirEntry, File, OpenOptions};
use std::path::{Path, PathBuf};

use rejoin_core::ConversationId;

use crate::{JournalError, private};

const MOVING: &str = ".moving-";

/// The marker of a move. It is locked as long as somebody is at it.
pub(crate) struct Moving {
    path: PathBuf,
    /// Holds the lock.
    _file: File,
}

impl Moving {
    /// Says on the disk that a journal is about to come into this directory.
    pub(crate) fn begin(directory: &Path, id: ConversationId) -> Result<Self, JournalError> {
        let path = directory.join(format!("{MOVING}{id}"));
        let file = private::open(OpenOptions::new().write(true).create(true).truncate(false), &path)?;
        // A file system without locks: whoever looks goes by what the journal says.
        let _ = file.lock();
        private::sync_dir(directory)?;
        Ok(Self { path, _file: file })
    }

    /// Whether this is the marker of a move.
    pub(crate) fn is_marker(entry: &DirEntry) -> bool {
        entry.file_name().as_encoded_bytes().starts_with(MOVING.as_bytes())
    }

    /// A move whose mover is gone, if this is the marker of one.
    pub(crate) fn cut_off(entry: &DirEntry) -> Option<(Self, ConversationId)> {
        let id = entry.file_name().to_str()?.strip_prefix(MOVING)?.parse().ok()?;
        let path = entry.path();
        let file = File::open(&path).ok()?;
        file.try_lock().ok()?;
        Some((Self { path, _file: file }, id))
    }

    /// The journal is where it belongs.
    pub(crate) fn done(self) {
        let _ = fs::remove_file(&self.path);
    }
}
