//! `daemon.json` in the home: where the daemon listens, for commands that want to tell or ask it.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use rejoin_journal::{JournalError, private};
use serde::{Deserialize, Serialize};

/// What it says.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Note {
    pid: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<SocketAddr>,
    /// What a browser of this machine opens.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
}

/// The file, as long as the daemon runs.
pub(crate) struct DaemonNote(PathBuf);

impl DaemonNote {
    /// Whole or not at all: whoever waits for it may read it at any time.
    pub(crate) fn write(
        home: &Path,
        address: Option<SocketAddr>,
        url: Option<String>,
    ) -> Result<Self, JournalError> {
        let path = home.join("daemon.json");
        let note = Note { pid: std::process::id(), address, url };
        let mut text = serde_json::to_vec(&note).map_err(|error| JournalError::Io {
            what: "write",
            path: path.clone(),
            cause: error.into(),
        })?;
        text.push(b'\n');
        private::write_atomically(&path, &text)?;
        Ok(Self(path))
    }
}

impl Drop for DaemonNote {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
