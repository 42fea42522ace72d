use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::{HeldLease, JournalError, Lease, LeaseName, LeaseToken, Leases, Owner, private};

/// Leases on names: one holder each, across processes.
///
/// A lock is a file of its own under `locks/`, held by `flock`, so it belongs to the open file:
/// a descriptor passed on to another process keeps it, and the system frees it when the last copy
/// is closed, whatever killed the holder. Lock files stay where they are; of an old text in a free one
/// only the marks mean something ([`Lease::left`]).
#[derive(Clone, Debug)]
pub struct Locks {
    directory: PathBuf,
}

/// Why a lock was not got.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Somebody holds it.
    #[error("{name} is in use by {}; wait for it, or stop it", said(owner.as_deref()))]
    Busy {
        /// The lock.
        name: String,
        /// Who, where known.
        owner: Option<Box<Owner>>,
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

/// The lock file of a lease. Dropping it closes our descriptor; a copy of it that another process
/// inherited goes on holding the lock.
#[derive(Debug)]
struct LockFile {
    file: File,
    path: PathBuf,
}

impl HeldLease for LockFile {
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.file.as_fd())
    }

    fn say(&self, owner: &Owner) -> Result<(), JournalError> {
        write_owner(&self.file, owner).map_err(JournalError::io("write", &self.path))
    }

    fn say_nothing(&self) -> Result<(), JournalError> {
        self.file.set_len(0).map_err(JournalError::io("write", &self.path))
    }
}

/// Says in a lock file, by any copy of its descriptor, who holds the lock.
pub fn write_owner(mut file: &File, owner: &Owner) -> io::Result<()> {
    let text = serde_json::to_string(owner)? + "\n";
    file.rewind()?;
    file.set_len(0)?;
    file.write_all(text.as_bytes())
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
    pub fn acquire(
        &self,
        name: impl Into<LeaseName>,
        owner: &Owner,
        wait: Option<Duration>,
    ) -> Result<Lease, LockError> {
        let name = name.into();
        let path = self.path(name.as_str())?;
        private::create_dir(&self.directory)?;
        let begun = Instant::now();
        let patience = wait.unwrap_or_default().max(SHORTEST_TRY);
        let mut pause = Duration::from_millis(2);
        loop {
            let options = &mut OpenOptions::new();
            let file = private::open(options.read(true).write(true).create(true).truncate(false), &path)?;
            // A file that was deleted meanwhile locks nothing.
            if succeeds(file.try_lock(), &path)? && is_same(&file, &path) {
                let mut left = read_owner(&file).unwrap_or_default().marks;
                left.truncate(MOST_LEFT);
                let token = LeaseToken::new(name, Lease::next_number());
                return Ok(Lease::new(token, owner, left, Box::new(LockFile { file, path }))?);
            }
            let held = !succeeds(file.try_lock_shared(), &path)?;
            let left = if held { patience } else { patience.max(ASKERS) }.saturating_sub(begun.elapsed());
            if left.is_zero() {
                let owner = if held { read_owner(&file).map(Box::new) } else { None };
                return Err(LockError::Busy { name: name.to_string(), owner });
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
    pub fn holder(&self, name: impl Into<LeaseName>) -> Result<Option<Owner>, LockError> {
        let path = self.path(name.into().as_str())?;
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

impl Leases for Locks {
    fn acquire(&self, name: &LeaseName, owner: &Owner, wait: Option<Duration>) -> Result<Lease, LockError> {
        self.acquire(name, owner, wait)
    }

    fn holder(&self, name: &LeaseName) -> Result<Option<Owner>, LockError> {
        self.holder(name)
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

/// Nobody was killed so often at one lock without anybody looking after it.
const MOST_LEFT: usize = 64;

/// Longer texts are not ours.
const LONGEST_OWNER: u64 = 64 << 10;

fn read_owner(mut file: &File) -> Option<Owner> {
    let mut text = Vec::with_capacity(4 << 10);
    file.rewind().ok()?;
    file.take(LONGEST_OWNER).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
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
