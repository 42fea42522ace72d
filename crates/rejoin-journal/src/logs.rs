//! Logs of lines that are no conversations, kept beside them: no list of conversations shows one.

use std::collections::HashMap;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use uuid::Uuid;

use crate::{JournalError, private};

/// What a log is of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum LogKind {
    /// A run of a flow.
    FlowRun,
    /// The prompts that wait in a conversation.
    Queue,
    /// Something that was sent ahead of the prompt it goes along with.
    Upload,
}

impl LogKind {
    /// The directory of their files.
    const fn directory(self) -> &'static str {
        match self {
            LogKind::FlowRun => "flows",
            LogKind::Queue => "queue",
            LogKind::Upload => "uploads",
        }
    }
}

/// Where logs are kept. What their lines say is the business of who writes them.
pub trait Logs: Send + Sync + fmt::Debug {
    /// Opens a log for appending, and makes it if it is not there.
    fn open(&self, kind: LogKind, id: Uuid) -> Result<Box<dyn LogEnd>, JournalError>;

    /// A log's bytes from the beginning.
    fn read(&self, kind: LogKind, id: Uuid) -> Result<Box<dyn Read + Send>, JournalError>;

    /// All logs of a kind, in no order.
    fn ids(&self, kind: LogKind) -> Result<Vec<Uuid>, JournalError>;

    /// Puts other bytes in the place of a log's, or makes it: readers see the old ones or the new ones, and the new ones
    /// are on the disk when it returns. Ends that are open stay at the old ones.
    fn rewrite(&self, kind: LogKind, id: Uuid, bytes: &[u8]) -> Result<(), JournalError>;

    /// Deletes a log; says whether it was there.
    fn remove(&self, kind: LogKind, id: Uuid) -> Result<bool, JournalError>;

    /// When one was written last.
    fn modified(&self, kind: LogKind, id: Uuid) -> Option<SystemTime>;

    /// Where one is kept, for people.
    fn place(&self, kind: LogKind, id: Uuid) -> PathBuf;
}

/// The open end of a log.
pub trait LogEnd: Send {
    /// Whether it ended in the middle of a line when it was opened.
    fn is_torn(&self) -> bool;

    /// Adds to the end.
    fn append(&mut self, bytes: &[u8]) -> Result<(), JournalError>;

    /// Waits until all of it would survive a loss of power.
    fn sync(&mut self) -> Result<(), JournalError>;
}

/// Logs as files: `flows/<id>.jsonl`, for instance.
#[derive(Debug)]
pub(crate) struct FileLogs {
    root: PathBuf,
}

impl FileLogs {
    pub(crate) fn new(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    fn directory(&self, kind: LogKind) -> PathBuf {
        self.root.join(kind.directory())
    }
}

impl Logs for FileLogs {
    fn open(&self, kind: LogKind, id: Uuid) -> Result<Box<dyn LogEnd>, JournalError> {
        let directory = self.directory(kind);
        private::create_dir(&directory)?;
        let path = self.place(kind, id);
        let file = private::open(OpenOptions::new().read(true).append(true).create(true), &path)?;
        let (torn, empty) = end_of(&file).map_err(JournalError::io("read the end of", &path))?;
        Ok(Box::new(FileEnd { file, path, torn, unsynced: empty.then_some(directory) }))
    }

    fn read(&self, kind: LogKind, id: Uuid) -> Result<Box<dyn Read + Send>, JournalError> {
        let path = self.place(kind, id);
        Ok(Box::new(File::open(&path).map_err(JournalError::io("read", &path))?))
    }

    fn ids(&self, kind: LogKind) -> Result<Vec<Uuid>, JournalError> {
        let directory = self.directory(kind);
        let entries = match fs::read_dir(&directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(JournalError::io("read the directory", &directory))?,
        };
        let names = entries.flatten().map(|entry| entry.file_name());
        Ok(names.filter_map(|name| name.to_str()?.strip_suffix(".jsonl")?.parse().ok()).collect())
    }

    fn rewrite(&self, kind: LogKind, id: Uuid, bytes: &[u8]) -> Result<(), JournalError> {
        private::create_dir(&self.directory(kind))?;
        private::write_atomically(&self.place(kind, id), bytes)
    }

    fn remove(&self, kind: LogKind, id: Uuid) -> Result<bool, JournalError> {
        let path = self.place(kind, id);
        match fs::remove_file(&path) {
            Ok(()) => private::sync_dir(&self.directory(kind)).map(|()| true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(JournalError::io("delete", &path)(error)),
        }
    }

    fn modified(&self, kind: LogKind, id: Uuid) -> Option<SystemTime> {
        self.place(kind, id).metadata().ok()?.modified().ok()
    }

    fn place(&self, kind: LogKind, id: Uuid) -> PathBuf {
        self.directory(kind).join(format!("{id}.jsonl"))
    }
}

struct FileEnd {
    file: File,
    path: PathBuf,
    torn: bool,
    /// Where its name may not be on the disk yet.
    unsynced: Option<PathBuf>,
}

impl LogEnd for FileEnd {
    fn is_torn(&self) -> bool {
        self.torn
    }

    fn append(&mut self, bytes: &[u8]) -> Result<(), JournalError> {
        self.file.write_all(bytes).map_err(JournalError::io("write", &self.path))
    }

    fn sync(&mut self) -> Result<(), JournalError> {
        self.file.sync_data().map_err(JournalError::io("write", &self.path))?;
        if let Some(directory) = &self.unsynced {
            private::sync_dir(directory)?;
            self.unsynced = None;
        }
        Ok(())
    }
}

/// Whether a file ends in the middle of a line, and whether there is nothing in it.
fn end_of(file: &File) -> io::Result<(bool, bool)> {
    let length = file.metadata()?.len();
    let mut last = *b"\n";
    if length > 0 {
        file.read_exact_at(&mut last, length - 1)?;
    }
    Ok((last != *b"\n", length == 0))
}

type Kept = HashMap<(LogKind, Uuid), (Vec<u8>, SystemTime)>;

/// Logs that end with the process.
#[derive(Clone, Debug, Default)]
pub(crate) struct MemoryLogs {
    kept: Arc<Mutex<Kept>>,
}

impl MemoryLogs {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Logs for MemoryLogs {
    fn open(&self, kind: LogKind, id: Uuid) -> Result<Box<dyn LogEnd>, JournalError> {
        let mut kept = self.kept();
        let (bytes, _) = kept.entry((kind, id)).or_insert_with(|| (Vec::new(), SystemTime::now()));
        let torn = bytes.last().is_some_and(|last| *last != b'\n');
        Ok(Box::new(MemoryEnd { logs: self.clone(), log: (kind, id), torn }))
    }

    fn read(&self, kind: LogKind, id: Uuid) -> Result<Box<dyn Read + Send>, JournalError> {
        match self.kept().get(&(kind, id)) {
            Some((bytes, _)) => Ok(Box::new(io::Cursor::new(bytes.clone()))),
            None => Err(JournalError::io("read", &self.place(kind, id))(io::ErrorKind::NotFound.into())),
        }
    }

    fn ids(&self, kind: LogKind) -> Result<Vec<Uuid>, JournalError> {
        Ok(self.kept().keys().filter(|(of, _)| *of == kind).map(|(_, id)| *id).collect())
    }

    fn rewrite(&self, kind: LogKind, id: Uuid, bytes: &[u8]) -> Result<(), JournalError> {
        self.kept().insert((kind, id), (bytes.to_vec(), SystemTime::now()));
        Ok(())
    }

    fn remove(&self, kind: LogKind, id: Uuid) -> Result<bool, JournalError> {
        Ok(self.kept().remove(&(kind, id)).is_some())
    }

    fn modified(&self, kind: LogKind, id: Uuid) -> Option<SystemTime> {
        self.kept().get(&(kind, id)).map(|(_, modified)| *modified)
    }

    fn place(&self, kind: LogKind, id: Uuid) -> PathBuf {
        Path::new("memory").join(kind.directory()).join(id.to_string())
    }
}

struct MemoryEnd {
    logs: MemoryLogs,
    log: (LogKind, Uuid),
    torn: bool,
}

impl LogEnd for MemoryEnd {
    fn is_torn(&self) -> bool {
        self.torn
    }

    fn append(&mut self, bytes: &[u8]) -> Result<(), JournalError> {
        let mut kept = self.logs.kept();
        let (log, modified) = kept.entry(self.log).or_insert_with(|| (Vec::new(), SystemTime::now()));
        log.extend_from_slice(bytes);
        *modified = SystemTime::now();
        Ok(())
    }

    fn sync(&mut self) -> Result<(), JournalError> {
        Ok(())
    }
}
