use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use rejoin_files::read_regular_file;
use uuid::Uuid;

use crate::{FileStore, JournalError, LeaseName, LockError, Locks, Origins, Owner, private};

/// `$REJOIN_HOME`: everything rejoin keeps.
#[derive(Clone, Debug)]
pub struct Home {
    root: PathBuf,
    id: OnceLock<String>,
}

impl Home {
    /// Opens a home, and makes it if it is not there. One that is complete is only read, so it may
    /// lie on a read-only file system.
    pub fn open(root: impl Into<PathBuf>) -> Result<Home, JournalError> {
        let home = Self::look(root)?;
        home.make()?;
        Ok(home)
    }

    /// Opens a home to look into it. One that is not there is empty, and is not made.
    pub fn look(root: impl Into<PathBuf>) -> Result<Home, JournalError> {
        let root = root.into();
        let root = std::path::absolute(&root).map_err(JournalError::io("find", &root))?;
        let id = read_id(&root)?.map(OnceLock::from).unwrap_or_default();
        Ok(Home { root, id })
    }

    /// Makes it, if it is not there.
    pub fn make(&self) -> Result<(), JournalError> {
        if self.id.get().is_none() {
            private::create_dir(&self.root)?;
            let _ = self.id.set(make_id(&self.root)?);
        }
        Ok(())
    }

    /// Where it is.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The random id that tells this home from any other, copies of its journals included; empty as
    /// long as it is not made.
    pub fn id(&self) -> &str {
        self.id.get().map_or("", String::as_str)
    }

    /// Where things are kept that can be deleted at any time. Make it with
    /// [`private::create_dir`] before the first use.
    pub fn cache(&self) -> PathBuf {
        self.root.join("cache")
    }

    /// The journals.
    pub fn store(&self) -> FileStore {
        FileStore::new(&self.root)
    }

    /// Where the conversations came from.
    pub fn origins(&self) -> Origins {
        Origins::new(self.root.clone(), self.store())
    }

    /// The locks.
    pub fn locks(&self) -> Locks {
        Locks::new(self.root.join("locks"))
    }
}

/// An id with some space around it.
const LONGEST_ID: u64 = 4096;

fn id_file(root: &Path) -> PathBuf {
    root.join("home-id")
}

fn read_id(root: &Path) -> Result<Option<String>, JournalError> {
    let path = id_file(root);
    match read_regular_file(&path, LONGEST_ID) {
        Ok(bytes) => match Uuid::try_parse_ascii(bytes.trim_ascii()) {
            Ok(id) => Ok(Some(id.hyphenated().to_string())),
            Err(_) => Err(JournalError::DamagedHomeId { path }),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(JournalError::io("read", &path)(error)),
    }
}

/// Two processes may come here at once: the lock lets one of them choose.
fn make_id(root: &Path) -> Result<String, JournalError> {
    let owner = Owner::this_process("rejoin", "making the home", "");
    let locks = Locks::new(root.join("locks"));
    let _lease = locks.acquire(LeaseName::home(), &owner, Some(Duration::from_secs(10))).map_err(
        |error| match error {
            LockError::Journal(error) => error,
            LockError::Busy { .. } | LockError::Name { .. } => {
                JournalError::AppendLocked { path: id_file(root), waited: Duration::from_secs(10) }
            }
        },
    )?;
    if let Some(id) = read_id(root)? {
        return Ok(id);
    }
    let id = Uuid::new_v4().hyphenated().to_string();
    private::write_atomically(&id_file(root), format!("{id}\n").as_bytes())?;
    Ok(id)
}
