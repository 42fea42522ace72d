use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::ops::Deref;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::{JournalError, private};

/// Leases on names: one holder each, across processes.
///
/// A lock is a file of its own under `locks/`, held by `flock`, so it belongs to the open file:
/// a descriptor passed on to another process keeps it, and the system frees it when the last copy
/// is closed, whatever killed the holder. Lock files stay where they are; an old text in a free
/// one means nothing.
#[derive(Clone, Debug)]
pub struct Locks {
    directory: PathBuf,
}

/// Who holds a lock, for the one who has to wait.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Owner {
    /// Its process.
    pub pid: u32,
    /// Since when, for display.
    pub started: String,
    /// The command it was called by.
    pub command: String,
    /// What it is doing.
    pub what: String,
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {}", self.pid)?;
        if !self.command.is_empty() {
            write!(f, " ({})", self.command)?;
        }
        if !self.what.is_empty() {
            write!(f, ", {}", self.what)?;
        }
        if !self.started.is_empty() {
            write!(f, ", since {}", self.started)?;
        }
        Ok(())
    }
}

/// Why a lock was not got.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Somebody holds it.
    #[error("{name} is in use by {}; wait for it, or stop it", said(owner.as_ref()))]
    Busy {
        /// The lock.
        name: String,
        /// Who, where known.
        owner: Option<Owner>,
    },
    /// The name cannot be a file's.
    #[error("{name:?} cannot name a lock: expected 1 to 200 characters of A-Z a-z 0-9 _ - .")]
    Name {
        /// The name.
        name: String,
    },
    /// The disk refused.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

fn said(owner: Option<&Owner>) -> String {
    owner.map_or_else(|| "another process".into(), ToString::to_string)
}

/// A lock that is held. Dropping it closes our descriptor; a copy of it that another process
/// inherited goes on holding the lock.
#[derive(Debug)]
pub struct Lease {
    file: File,
    path: PathBuf,
}

impl Lease {
    /// The lock file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Says anew who holds it.
    pub fn set_owner(&self, owner: &Owner) -> Result<(), JournalError> {
        let text = serde_json::to_string(owner).map_err(|cause| JournalError::NotJson { cause })? + "\n";
        let mut file = &self.file;
        file.rewind()
            .and_then(|()| file.set_len(0))
            .and_then(|()| file.write_all(text.as_bytes()))
            .map_err(JournalError::io("write", &self.path))
    }
}

impl Deref for Lease {
    type Target = File;
    fn deref(&self) -> &File {
        &self.file
    }
}

/// How long a try lasts that does not want to wait: a new holder needs a moment to say who it is.
const SHORTEST_TRY: Duration = Duration::from_millis(20);

/// How long those who only ask may keep a lock from us.
const ASKERS: Duration = Duration::from_secs(5);

impl Locks {
    /// The locks in a directory, which need not be there yet.
    pub fn new(directory: PathBuf) -> Self {
        Self { directory }
    }

    /// Takes a lock, waiting for it as long as `wait` says.
    pub fn acquire(&self, name: &str, owner: &Owner, wait: Option<Duration>) -> Result<Lease, LockError> {
        let path = self.path(name)?;
        private::create_dir(&self.directory)?;
        let begun = Instant::now();
        let patience = wait.unwrap_or_default().max(SHORTEST_TRY);
        let mut pause = Duration::from_millis(2);
        loop {
            let options = &mut OpenOptions::new();
            let file = private::open(options.read(true).write(true).create(true).truncate(false), &path)?;
            // A file that was deleted meanwhile locks nothing.
            if succeeds(file.try_lock(), &path)? && is_same(&file, &path) {
                let lease = Lease { file, path };
                lease.set_owner(owner)?;
                return Ok(lease);
            }
            let held = !succeeds(file.try_lock_shared(), &path)?;
            let left = if held { patience } else { patience.max(ASKERS) }.saturating_sub(begun.elapsed());
            if left.is_zero() {
                let owner = if held { read_owner(&file) } else { None };
                return Err(LockError::Busy { name: name.to_owned(), owner });
            }
            drop(file);
            if held {
                std::thread::sleep(pause.min(left));
                pause = (pause * 2).min(Duration::from_millis(100));
            } else {
                std::thread::yield_now();
            }
        }
    }

    /// Who holds a lock now; `None` if nobody does. A holder that did not say who it is comes as
    /// an empty [`Owner`].
    pub fn holder(&self, name: &str) -> Result<Option<Owner>, LockError> {
        let path = self.path(name)?;
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(JournalError::io("open", &path)(error).into()),
        };
        // Shared, so that those who ask can be told from a holder.
        if succeeds(file.try_lock_shared(), &path)? {
            return Ok(None);
        }
        Ok(Some(read_owner(&file).unwrap_or_default()))
    }

    fn path(&self, name: &str) -> Result<PathBuf, LockError> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
        if (1..=200).contains(&name.len()) && !name.starts_with('.') && name.bytes().all(plain) {
            Ok(self.directory.join(format!("{name}.lock")))
        } else {
            Err(LockError::Name { name: name.chars().take(40).collect() })
        }
    }
}

/// Whether a try got the lock.
fn succeeds(tried: Result<(), TryLockError>, path: &Path) -> Result<bool, JournalError> {
    match tried {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Interrupted => Ok(false),
        Err(TryLockError::Error(error)) => Err(JournalError::io("lock", path)(error)),
    }
}

fn is_same(file: &File, path: &Path) -> bool {
    let identity = |metadata: &fs::Metadata| (metadata.dev(), metadata.ino());
    matches!((file.metadata(), fs::metadata(path)), (Ok(one), Ok(other)) if identity(&one) == identity(&other))
}

/// Longer texts are not ours.
const LONGEST_OWNER: u64 = 64 << 10;

fn read_owner(mut file: &File) -> Option<Owner> {
    let mut text = String::new();
    file.rewind().ok()?;
    file.take(LONGEST_OWNER).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deleted_lock_file_is_not_the_one_that_took_its_place() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("turn.lock");
        let file = File::create(&path).unwrap();
        assert!(is_same(&file, &path));
        fs::remove_file(&path).unwrap();
        assert!(!is_same(&file, &path));
        let _other = File::create(&path).unwrap();
        assert!(!is_same(&file, &path));
    }
}
