use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rejoin_core::{ConversationId, Record};

use crate::digest::last_line_end;
use crate::{Append, JournalError, LONGEST_LINE, Writer, private};

/// An append takes milliseconds; who holds the lock for longer is stopped or stuck.
const PATIENCE: Duration = Duration::from_secs(10);

/// What the buffer may keep between appends.
const KEPT_BUFFER: usize = 4 << 20;

/// The open end of a journal file.
///
/// The append lock is the file's own `flock`: it is advisory, so readers are never held up; lock
/// and data cannot come apart when a home is copied, restored or moved; and a process that dies
/// leaves nothing behind. It excludes threads as well, since every appender opens the file anew.
pub(crate) struct FileAppender {
    file: File,
    path: PathBuf,
    buffer: Vec<u8>,
    /// Where our last append ended, with a newline. If the file still ends there, so does its
    /// last line.
    sealed_at: Option<u64>,
    /// How far this end knows what stands in the file, and what others wrote before that.
    known: Option<u64>,
    foreign: Vec<Range<u64>>,
    /// What was written could not be brought to the disk. The system may have given it up, and would
    /// call a second try a success: nothing more is written or acknowledged through this end.
    unsynced: bool,
    /// As what it is written, to which conversation.
    writer: Option<(ConversationId, Writer)>,
}

impl FileAppender {
    pub(crate) fn open(path: PathBuf) -> Result<Self, JournalError> {
        let file = private::open(OpenOptions::new().read(true).append(true), &path)?;
        let (sealed_at, known, foreign) = (None, None, Vec::new());
        Ok(Self { file, path, buffer: Vec::new(), sealed_at, known, foreign, unsynced: false, writer: None })
    }

    /// The same, for who has just made the file with so many bytes of whole lines.
    pub(crate) fn after(self, length: u64) -> Self {
        Self { sealed_at: Some(length), known: Some(length), ..self }
    }

    /// The same, for who has to show that it may.
    pub(crate) fn written_by(self, id: ConversationId, writer: Writer) -> Self {
        Self { writer: Some((id, writer)), ..self }
    }

    fn refuse_if_fenced(&self) -> Result<(), JournalError> {
        self.writer.as_ref().map_or(Ok(()), |(id, writer)| writer.check(*id))
    }

    fn refuse_if_unsynced(&self) -> Result<(), JournalError> {
        if self.unsynced { Err(JournalError::Unsynced { path: self.path.clone() }) } else { Ok(()) }
    }

    /// The file and where it lies.
    pub(crate) fn parts(&self) -> (&File, &Path) {
        (&self.file, &self.path)
    }

    /// Whether the file ends with a whole line. Only to be asked under the lock.
    fn is_sealed(&self, length: u64) -> io::Result<bool> {
        if length == 0 || self.sealed_at == Some(length) {
            return Ok(true);
        }
        let mut last = [0];
        self.file.read_exact_at(&mut last, length - 1)?;
        Ok(last == *b"\n")
    }
}

impl Append for FileAppender {
    fn append(&mut self, records: &[Record]) -> Result<u64, JournalError> {
        self.refuse_if_unsynced()?;
        self.refuse_if_fenced()?;
        if records.is_empty() {
            return last_line_end(&self.file).map_err(JournalError::io("read the end of", &self.path));
        }
        write_lines(records, &mut self.buffer)?;

        let mut locked = AppendLock::take(&self.file, &self.path)?;
        let mut metadata = self.file.metadata().map_err(JournalError::io("look at", &self.path))?;
        if metadata.nlink() == 0 {
            // A longer version may have been put in its place while we waited for the lock.
            drop(locked);
            let deleted = |_| JournalError::Deleted { path: self.path.clone() };
            self.file = OpenOptions::new().read(true).append(true).open(&self.path).map_err(deleted)?;
            (self.sealed_at, self.known) = (None, None);
            locked = AppendLock::take(&self.file, &self.path)?;
            metadata = self.file.metadata().map_err(JournalError::io("look at", &self.path))?;
        }
        if metadata.nlink() == 0 {
            return Err(JournalError::Deleted { path: self.path.clone() });
        }
        let length = metadata.len();
        let sealed = self.is_sealed(length).map_err(JournalError::io("read the end of", &self.path))?;
        let seal = usize::from(!sealed);
        let bytes = &self.buffer[1 - seal..];
        let (written, result) = write_as_one(&self.file, bytes);
        drop(locked);

        let end = length + written as u64;
        self.foreign.extend(self.known.filter(|known| *known < length).map(|known| known..length));
        self.known = result.is_ok().then_some(end);
        self.sealed_at = result.is_ok().then_some(end);
        let result = result.map_err(|cause| {
            let lines = memchr::memchr_iter(b'\n', &bytes[..written]).count();
            let kept = lines.saturating_sub(seal);
            JournalError::Append { path: self.path.clone(), kept, records: records.len(), cause }
        });
        if self.buffer.capacity() > KEPT_BUFFER {
            self.buffer = Vec::new();
        }
        result.map(|()| end)
    }

    fn position(&self) -> Option<u64> {
        self.sealed_at
    }

    fn take_foreign(&mut self) -> Result<Vec<Range<u64>>, JournalError> {
        let cannot = |cause| JournalError::io("look at", &self.path)(cause);
        if let Some(known) = self.known
            && self.file.metadata().map_err(cannot)?.len() > known
        {
            // One that is just being written is looked at when it is whole.
            let end = last_line_end(&self.file).map_err(cannot)?.max(known);
            self.foreign.extend((end > known).then_some(known..end));
            self.known = Some(end);
        }
        Ok(std::mem::take(&mut self.foreign))
    }

    fn seal(&mut self) -> Result<bool, JournalError> {
        self.refuse_if_fenced()?;
        let cannot = |cause| JournalError::io("seal", &self.path)(cause);
        let _locked = AppendLock::take(&self.file, &self.path)?;
        let length = self.file.metadata().map_err(cannot)?.len();
        let sealed = self.is_sealed(length).map_err(cannot)?;
        if !sealed {
            write_as_one(&self.file, b"\n").1.map_err(cannot)?;
        }
        Ok(!sealed)
    }

    fn sync(&mut self) -> Result<(), JournalError> {
        self.refuse_if_unsynced()?;
        let synced = self.file.sync_data();
        self.unsynced = synced.is_err();
        synced.map_err(JournalError::io("bring to the disk", &self.path))
    }
}

/// Writes records as lines, behind a newline that seals a torn line where there is one.
pub(crate) fn write_lines(records: &[Record], buffer: &mut Vec<u8>) -> Result<(), JournalError> {
    buffer.clear();
    buffer.push(b'\n');
    for record in records {
        let begin = buffer.len();
        serde_json::to_writer(&mut *buffer, record).map_err(|cause| JournalError::NotJson { cause })?;
        let bytes = buffer.len() - begin;
        if bytes > LONGEST_LINE {
            *buffer = Vec::new();
            return Err(JournalError::RecordTooLong { bytes, limit: LONGEST_LINE });
        }
        buffer.push(b'\n');
    }
    Ok(())
}

/// One `write`, which the system carries out whole unless the disk is full; then the second one
/// brings the reason.
fn write_as_one(mut file: &File, bytes: &[u8]) -> (usize, io::Result<()>) {
    let mut written = 0;
    while written < bytes.len() {
        match file.write(&bytes[written..]) {
            Ok(0) => return (written, Err(io::ErrorKind::WriteZero.into())),
            Ok(count) => written += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return (written, Err(error)),
        }
    }
    (written, Ok(()))
}

pub(crate) struct AppendLock<'a>(&'a File);

impl<'a> AppendLock<'a> {
    pub(crate) fn take(file: &'a File, path: &Path) -> Result<Self, JournalError> {
        let begun = Instant::now();
        let mut pause = Duration::from_micros(20);
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self(file)),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(TryLockError::Error(error)) => return Err(JournalError::io("lock", path)(error)),
            }
            if begun.elapsed() > PATIENCE {
                return Err(JournalError::AppendLocked { path: path.to_owned(), waited: PATIENCE });
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(5));
        }
    }
}

impl Drop for AppendLock<'_> {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

/// How long a reader waits for a writer to finish its line.
const READER_PATIENCE: Duration = Duration::from_secs(1);

/// Waits until nobody is appending; then an unfinished line is torn for good.
pub(crate) fn wait_for_writer(file: &File) {
    let begun = Instant::now();
    while begun.elapsed() < READER_PATIENCE {
        match file.try_lock_shared() {
            Ok(()) => {
                let _ = file.unlock();
                return;
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(1)),
            // A file system without locks: the line is judged as it stands.
            Err(TryLockError::Error(_)) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use rejoin_core::{Kind, MessageId};
    use uuid::Uuid;

    use super::*;

    fn record() -> Record {
        Record {
            uuid: MessageId::new(Uuid::nil()),
            parent_uuid: None,
            session_id: ConversationId::new(Uuid::nil()),
            timestamp: String::new(),
            kind: Kind::User,
            cwd: String::new(),
            version: String::new(),
            git_branch: None,
            subtype: None,
            message: None,
            replaces: None,
            offset: None,
            cost: None,
            tokens: None,
            model: None,
            tool_calls_metadata: Vec::new(),
            native: None,
            request: None,
            system_payload: None,
        }
    }

    #[test]
    fn a_disk_that_is_full_says_so_and_what_to_do() {
        if !Path::new("/dev/full").exists() {
            return;
        }
        let mut appender = FileAppender::open("/dev/full".into()).unwrap();
        let error = appender.append(&[record(), record()]).unwrap_err();
        assert!(matches!(error, JournalError::Append { kept: 0, records: 2, .. }));
        let text = error.to_string();
        assert!(text.contains("/dev/full") && text.contains("free some space"), "{text}");
    }

    #[test]
    fn what_could_not_be_brought_to_the_disk_is_not_acknowledged_by_a_second_try() {
        // It takes every write, and has no disk behind it.
        let nowhere = "/dev/null";
        let mut appender = FileAppender::open(nowhere.into()).unwrap();
        appender.append(&[record()]).unwrap();
        let Err(error) = appender.sync() else { return };
        assert!(matches!(error, JournalError::Io { .. }), "{error}");
        for again in [appender.sync(), appender.append(&[record()]).map(drop), appender.sync()] {
            let error = again.unwrap_err();
            assert!(matches!(error, JournalError::Unsynced { .. }), "{error}");
            assert!(error.to_string().contains(nowhere), "{error}");
        }
    }

    #[test]
    fn a_stopped_writer_holds_up_a_reader_only_for_a_while() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal");
        let file = File::create(&path).unwrap();
        let _locked = AppendLock::take(&file, &path).unwrap();
        let begun = Instant::now();
        wait_for_writer(&File::open(&path).unwrap());
        assert!(begun.elapsed() >= READER_PATIENCE);
    }
}
