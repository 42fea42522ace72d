//! What was read of the agents' stores, kept as a cache: a file that looks the same from outside is not read again.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rejoin_agents::{FileStamp, StoredSession};
use rejoin_core::Agent;
use rejoin_files::read_regular_file;
use rejoin_journal::{Checksum, private};
use serde::{Deserialize, Serialize};

/// Raised whenever the readers of stores, or what is kept of them, change.
const SHAPE: u32 = 1;
/// A larger one is not of this program.
const LARGEST: u64 = 256 << 20;

/// What a file held when it looked like this.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct CachedFile {
    /// How it looked, and how what stands beside it did.
    pub(crate) stamp: (FileStamp, Option<FileStamp>),
    /// The sessions in it, or why it was not understood.
    pub(crate) read: Result<Vec<StoredSession>, String>,
}

/// What is known of the files of an agent's store.
pub(crate) struct SessionCache {
    path: PathBuf,
    begins: String,
    pub(crate) files: HashMap<PathBuf, CachedFile>,
}

impl SessionCache {
    /// The cache of an agent's store; empty if there is none that can be believed.
    pub(crate) fn open(cache: &Path, agent: &Agent) -> Self {
        let begins = format!("rejoin-sessions {} {SHAPE} {agent}\n", env!("CARGO_PKG_VERSION"));
        let path = cache.join("sessions").join(agent.as_str());
        let files = read_regular_file(&path, LARGEST).ok().and_then(|bytes| files_in(&bytes, &begins));
        Self { path, begins, files: files.unwrap_or_default() }
    }

    /// Keeps it. A cache that cannot be kept is made anew next time.
    pub(crate) fn keep(&self) {
        let mut bytes = self.begins.clone().into_bytes();
        let files: Vec<(&PathBuf, &CachedFile)> = self.files.iter().collect();
        if serde_json::to_writer(&mut bytes, &files).is_err() {
            return;
        }
        bytes.extend_from_slice(&Checksum::of(&bytes).to_le_bytes());
        if self.path.parent().is_some_and(|dir| private::create_dir(dir).is_ok()) {
            let _ = private::write_atomically(&self.path, &bytes);
        }
    }
}

/// `None` for what another version kept, and what is damaged.
fn files_in(bytes: &[u8], begins: &str) -> Option<HashMap<PathBuf, CachedFile>> {
    let (bytes, sum) = bytes.split_last_chunk()?;
    let rest = bytes.strip_prefix(begins.as_bytes())?;
    if Checksum::of(bytes).to_le_bytes() != *sum {
        return None;
    }
    let files: Vec<(PathBuf, CachedFile)> = serde_json::from_slice(rest).ok()?;
    Some(files.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_cache_is_not_believed() {
        let home = tempfile::tempdir().unwrap();
        let agent = Agent::Claude;
        let mut cache = SessionCache::open(home.path(), &agent);
        let stamp = FileStamp::of(home.path()).unwrap();
        cache.files.insert("/f".into(), CachedFile { stamp: (stamp, None), read: Ok(Vec::new()) });
        cache.files.insert("/g".into(), CachedFile { stamp: (stamp, None), read: Err("no".into()) });
        cache.keep();
        assert_eq!(SessionCache::open(home.path(), &agent).files.len(), 2);
        let bytes = std::fs::read(&cache.path).unwrap();
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert!(files_in(&damaged, &cache.begins).is_none(), "byte {at}");
            assert!(files_in(&bytes[..at], &cache.begins).is_none(), "cut at {at}");
        }
    }
}
