//! The file of a run: appended to, never changed.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rejoin_journal::{JournalError, private};
use serde::de::DeserializeOwned;

use super::record::{Record, RunId};

/// Where the runs of a home are kept.
pub(crate) fn directory(home: &Path) -> PathBuf {
    home.join("flows")
}

/// Where one of them is kept.
pub(crate) fn path(home: &Path, id: RunId) -> PathBuf {
    directory(home).join(format!("{id}.jsonl"))
}

/// An open file of a run. Several threads may write.
pub(crate) struct Log {
    file: Mutex<Appended>,
    path: PathBuf,
}

struct Appended {
    file: File,
    /// The last line may have been cut.
    torn: bool,
}

impl Log {
    /// Opens a file, and makes it if it is not there.
    pub(crate) fn open(home: &Path, id: RunId) -> Result<Self, JournalError> {
        private::create_dir(&directory(home))?;
        let path = path(home, id);
        let file = private::open(OpenOptions::new().read(true).append(true).create(true), &path)?;
        let torn = is_torn(&file).map_err(|cause| io("read the end of", &path, cause))?;
        Ok(Self { file: Mutex::new(Appended { file, torn }), path })
    }

    /// Appends one record and waits for the disk.
    pub(crate) fn write(&self, record: &Record) -> Result<(), JournalError> {
        let line = serde_json::to_string(record).map_err(|cause| JournalError::NotJson { cause })? + "\n";
        let mut appended = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        // The next line is not to be taken for the rest of one that was cut.
        let line = if appended.torn { format!("\n{line}") } else { line };
        appended.torn = true;
        let written = appended.file.write_all(line.as_bytes()).and_then(|()| appended.file.sync_data());
        written.map_err(|cause| io("write", &self.path, cause))?;
        appended.torn = false;
        Ok(())
    }
}

/// Whether a file ends in the middle of a line.
fn is_torn(file: &File) -> std::io::Result<bool> {
    let length = file.metadata()?.len();
    let mut last = *b"\n";
    if length > 0 {
        file.read_exact_at(&mut last, length - 1)?;
    }
    Ok(last != *b"\n")
}

/// Every record of a file that can be read, one after the other: a run may be longer than we want to hold. What
/// cannot be read (a line that was cut) is passed over.
pub(crate) fn read<T: DeserializeOwned>(
    path: &Path,
) -> Result<impl Iterator<Item = Result<T, JournalError>>, JournalError> {
    let file = File::open(path).map_err(|cause| io("read", path, cause))?;
    Ok(BufReader::new(file).split(b'\n').filter_map(move |line| match line {
        Ok(line) => serde_json::from_slice(&line).ok().map(Ok),
        Err(cause) => Some(Err(io("read", path, cause))),
    }))
}

fn io(what: &'static str, path: &Path, cause: std::io::Error) -> JournalError {
    JournalError::Io { what, path: path.to_owned(), cause }
}
