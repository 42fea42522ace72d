//! Directories that live as long as one run.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rejoin_journal::{JournalError, private};

/// What the names of such directories begin with: homes of ephemeral turns, copies of attachments.
const EPHEMERAL: &str = "ephemeral-";
pub(crate) const ATTACHED: &str = "attached-";
/// A younger one may be about to be locked.
const YOUNG: Duration = Duration::from_mins(1);

/// A directory that goes when the run is over, however it ended. It is locked meanwhile, so that
/// others can tell it from one whose run was killed.
pub(crate) struct Scratch {
    path: PathBuf,
    _lock: Option<File>,
}

impl Scratch {
    pub(crate) fn make(path: PathBuf) -> Result<Self, JournalError> {
        private::create_dir(&path)?;
        let lock = File::open(&path).ok().filter(|dir| dir.try_lock().is_ok());
        Ok(Self { path, _lock: lock })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

/// Removes what killed runs left in a directory of an agent.
pub(crate) fn sweep(own_dir: &Path) {
    for entry in fs::read_dir(own_dir).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let ours = [EPHEMERAL, ATTACHED].iter().any(|prefix| name.to_string_lossy().starts_with(prefix));
        let modified = entry.metadata().ok().and_then(|meta| meta.modified().ok());
        let old = modified.and_then(|at| at.elapsed().ok()).is_some_and(|age| age >= YOUNG);
        if ours && old && File::open(entry.path()).is_ok_and(|dir| dir.try_lock().is_ok()) {
            remove(&entry.path());
        }
    }
}

fn remove(dir: &Path) {
    // Something the agent left running may still write there: what comes back is taken again.
    for _ in 0..3 {
        match fs::remove_dir_all(dir) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {}
            _ => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::SystemTime;

    fn aged(dir: &Path) {
        let long_ago = SystemTime::now() - 2 * YOUNG;
        File::open(dir).unwrap().set_modified(long_ago).unwrap();
    }

    #[test]
    fn only_what_nobody_holds_any_more_is_swept() {
        let own = tempfile::tempdir().unwrap();
        let [left, young, other, held] = ["attached-left", "ephemeral-young", "policies", "ephemeral-held"]
            .map(|name| own.path().join(name));
        for dir in [&left, &young, &other] {
            fs::create_dir(dir).unwrap();
            fs::write(dir.join("file"), "x").unwrap();
        }
        let scratch = Scratch::make(held.clone()).unwrap();
        for dir in [&left, &other, &held] {
            aged(dir);
        }
        sweep(own.path());
        assert_eq!([&left, &young, &other, &held].map(|dir| dir.exists()), [false, true, true, true]);
        drop(scratch);
        assert!(!held.exists());
        sweep(&own.path().join("nowhere"));
    }
}
