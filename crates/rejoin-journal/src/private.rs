//! Files and directories that only their owner may read: 0600 and 0700, set on each one, because
//! changing the umask would be inherited by agents.

use std::fs::{self, DirBuilder, DirEntry, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use uuid::Uuid;

use crate::JournalError;

const FILE: u32 = 0o600;
const DIRECTORY: u32 = 0o700;

/// What the names of drafts end with.
const DRAFT: &str = "tmp";

/// Makes a directory, and those above it that are missing. One that is there is left as it is.
pub fn create_dir(path: &Path) -> Result<(), JournalError> {
    if path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        create_dir(parent)?;
    }
    match DirBuilder::new().mode(DIRECTORY).create(path) {
        Ok(()) => {
            fs::set_permissions(path, Permissions::from_mode(DIRECTORY))
                .map_err(JournalError::io("set the permissions of", path))?;
            path.parent().map_or(Ok(()), sync_dir)
        }
        Err(_) if path.is_dir() => Ok(()),
        // What stands there is a file: say so, instead of "exists".
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(JournalError::Io {
            what: "create the directory",
            path: path.to_owned(),
            cause: io::ErrorKind::NotADirectory.into(),
        }),
        Err(error) => Err(JournalError::io("create the directory", path)(error)),
    }
}

/// Opens a file as `options` say; if that makes it, only its owner may read it.
pub fn open(options: &mut OpenOptions, path: &Path) -> Result<File, JournalError> {
    let file = options.mode(FILE).open(path).map_err(JournalError::io("open", path))?;
    let metadata = file.metadata().map_err(JournalError::io("look at", path))?;
    if metadata.is_file() && metadata.permissions().mode() & 0o777 != FILE {
        // Somebody else's file (a shared home) cannot be changed, and is not ours to complain about.
        let _ = file.set_permissions(Permissions::from_mode(FILE));
    }
    Ok(file)
}

/// Puts a whole file in place: readers see the old one or the new one, never a part.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), JournalError> {
    let mut draft = Draft::new(path)?;
    let written = draft.file.write_all(bytes).and_then(|()| draft.file.sync_all());
    written.map_err(JournalError::io("write", &draft.path))?;
    draft.put_in_place(path)
}

/// A file that is being made beside the one it will be; gone when dropped. It is locked as long as
/// somebody is at it, so that others can tell it from one whose maker was killed.
pub(crate) struct Draft {
    pub(crate) file: File,
    pub(crate) path: PathBuf,
}

impl Draft {
    pub(crate) fn new(path: &Path) -> Result<Self, JournalError> {
        path.parent().map(sweep_drafts);
        Self::beside(path)
    }

    /// The same, without looking for drafts that were left behind.
    pub(crate) fn beside(path: &Path) -> Result<Self, JournalError> {
        loop {
            let draft = path.with_added_extension(format!("{}.{DRAFT}", Uuid::new_v4().simple()));
            let file = open(OpenOptions::new().write(true).create_new(true), &draft)?;
            let draft = Self { file, path: draft };
            // A file system without locks: nobody will take the draft for an abandoned one either.
            let _ = draft.file.lock();
            let metadata = draft.file.metadata().map_err(JournalError::io("look at", &draft.path))?;
            // Who swept before it was locked took it for an abandoned one.
            if metadata.nlink() > 0 {
                return Ok(draft);
            }
        }
    }

    /// Puts it, which was brought to the disk, in the place of what is there.
    pub(crate) fn put_in_place(self, path: &Path) -> Result<(), JournalError> {
        fs::rename(&self.path, path).map_err(JournalError::io("put in place", path))?;
        path.parent().map_or(Ok(()), sync_dir)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Deletes drafts in a directory that nobody is at any more: their makers were killed.
pub(crate) fn sweep_drafts(directory: &Path) {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.for_each(|entry| sweep_if_draft(&entry));
}

/// Deletes what was found in a directory, if it is such a draft.
pub(crate) fn sweep_if_draft(entry: &DirEntry) {
    if !entry.file_name().as_encoded_bytes().ends_with(DRAFT.as_bytes()) {
        return;
    }
    let path = entry.path();
    if is_draft(&path) && File::open(&path).is_ok_and(|file| file.try_lock().is_ok()) {
        let _ = fs::remove_file(path);
    }
}

/// By its name, which nobody else gives: `.`, a random id, `.tmp` behind another name.
fn is_draft(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return false };
    let mut parts = name.rsplitn(3, '.');
    parts.next() == Some(DRAFT)
        && parts.next().is_some_and(|id| id.len() == 32 && Uuid::try_parse(id).is_ok())
        && parts.next().is_some()
}

/// Renames a file to where none is; one that is there is not replaced.
pub(crate) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // Not every file system can; then those who go by the lease are kept apart by it.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) if !to.exists() => fs::rename(from, to),
        renamed => Ok(renamed?),
    }
}

/// Makes the names in a directory survive a loss of power.
pub fn sync_dir(path: &Path) -> Result<(), JournalError> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    match File::open(path).and_then(|directory| directory.sync_all()) {
        // Some file systems cannot do it, and a directory above ours may be closed to us.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied
            ) =>
        {
            Ok(())
        }
        result => result.map_err(JournalError::io("sync the directory", path)),
    }
}
