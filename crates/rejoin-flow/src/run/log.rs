//! The file of a run: appended to, never changed.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rejoin_journal::{JournalError, private};
use serde::de::DeserializeOwned;

use super::line::{self, Line};
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
}

struct Appended {
    disk: Box<dyn Disk>,
    /// The last line may have been cut.
    torn: bool,
}

/// What a run is written to.
pub(crate) trait Disk: Send {
    /// Adds to the end.
    fn append(&mut self, bytes: &[u8]) -> Result<(), JournalError>;

    /// Waits until all of it would survive a loss of power.
    fn sync(&mut self) -> Result<(), JournalError>;
}

/// The real one.
struct RunFile {
    file: File,
    path: PathBuf,
    /// Where its name may not be on the disk yet.
    unsynced: Option<PathBuf>,
}

impl Disk for RunFile {
    fn append(&mut self, bytes: &[u8]) -> Result<(), JournalError> {
        self.file.write_all(bytes).map_err(|cause| io("write", &self.path, cause))
    }

    fn sync(&mut self) -> Result<(), JournalError> {
        self.file.sync_data().map_err(|cause| io("write", &self.path, cause))?;
        if let Some(directory) = &self.unsynced {
            private::sync_dir(directory)?;
            self.unsynced = None;
        }
        Ok(())
    }
}

impl Log {
    /// Opens a file, and makes it if it is not there.
    pub(crate) fn open(home: &Path, id: RunId) -> Result<Self, JournalError> {
        let directory = directory(home);
        private::create_dir(&directory)?;
        let path = path(home, id);
        let file = private::open(OpenOptions::new().read(true).append(true).create(true), &path)?;
        let (torn, empty) = end_of(&file).map_err(|cause| io("read the end of", &path, cause))?;
        Ok(Self::on(RunFile { file, path, unsynced: empty.then_some(directory) }, torn))
    }

    fn on(disk: impl Disk + 'static, torn: bool) -> Self {
        Self { file: Mutex::new(Appended { disk: Box::new(disk), torn }) }
    }

    /// Appends one record and waits for the disk.
    pub(crate) fn write(&self, record: &Record) -> Result<(), JournalError> {
        let line = line::sealed(record).map_err(|cause| JournalError::NotJson { cause })? + "\n";
        let mut appended = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        // The next line is not to be taken for the rest of one that was cut.
        let line = if appended.torn { format!("\n{line}") } else { line };
        appended.torn = true;
        appended.disk.append(line.as_bytes())?;
        appended.disk.sync()?;
        appended.torn = false;
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

/// All lines of a file with their numbers, one after the other: a run may be longer than we want to hold.
pub(crate) fn lines(
    path: &Path,
) -> Result<impl Iterator<Item = Result<(usize, Line), JournalError>>, JournalError> {
    let mut reader = line::Reader::default();
    let lines = bytes(path)?.enumerate();
    Ok(lines.map(move |(at, line)| Ok((at + 1, reader.read(&line?)))))
}

/// The first line that was written to its end.
pub(crate) fn first_line(path: &Path) -> Result<Option<Vec<u8>>, JournalError> {
    let whole = |line: &Result<Vec<u8>, _>| match line {
        Ok(line) => !matches!(line::Reader::default().read(line), Line::Nothing),
        Err(_) => true,
    };
    bytes(path)?.find(whole).transpose()
}

/// What can be read of a file in this shape, whatever became of the rest: for lists.
pub(crate) fn glance<T: DeserializeOwned>(
    path: &Path,
) -> Result<impl Iterator<Item = Result<T, JournalError>>, JournalError> {
    Ok(bytes(path)?.filter_map(|line| match line {
        Ok(line) => serde_json::from_slice(&line).ok().map(Ok),
        Err(error) => Some(Err(error)),
    }))
}

fn bytes(path: &Path) -> Result<impl Iterator<Item = Result<Vec<u8>, JournalError>>, JournalError> {
    let file = File::open(path).map_err(|cause| io("read", path, cause))?;
    let path = path.to_owned();
    Ok(BufReader::new(file).split(b'\n').map(move |line| line.map_err(|cause| io("read", &path, cause))))
}

fn io(what: &'static str, path: &Path, cause: io::Error) -> JournalError {
    JournalError::Io { what, path: path.to_owned(), cause }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;

    use super::super::record::{Ended, Key, State};
    use super::*;

    fn turn(number: u128) -> Record {
        Record::Turn {
            key: Key::of("one"),
            conversation: rejoin::ConversationId::new(uuid::Uuid::from_u128(1)),
            turn: rejoin::TurnId::new(uuid::Uuid::from_u128(number)),
            sent_back: false,
        }
    }

    /// Keeps what it is given, and fails once: with the n-th thing it is asked for, of which a part is done.
    struct Faulty {
        kept: Arc<Mutex<Vec<u8>>>,
        left: usize,
        part: usize,
    }

    impl Faulty {
        fn goes_well(&mut self) -> Result<(), JournalError> {
            self.left = self.left.wrapping_sub(1);
            if self.left == 0 {
                return Err(io("write", Path::new("log"), io::ErrorKind::StorageFull.into()));
            }
            Ok(())
        }
    }

    impl Disk for Faulty {
        fn append(&mut self, bytes: &[u8]) -> Result<(), JournalError> {
            let well = self.goes_well();
            let done = if well.is_err() { self.part.min(bytes.len()) } else { bytes.len() };
            self.kept.lock().unwrap().extend_from_slice(&bytes[..done]);
            well
        }

        fn sync(&mut self) -> Result<(), JournalError> {
            self.goes_well()
        }
    }

    /// Whatever write or sync fails, and however much of a line it leaves: what was acknowledged is read again in its
    /// order, nothing reads as damaged, and the one that was not acknowledged is whole or not there.
    #[test]
    fn a_fault_at_every_write_loses_nothing_that_was_acknowledged() {
        let records: Vec<Record> = (0..4).map(turn).chain([ended()]).collect();
        let longest = line::sealed(&ended()).unwrap().len() + 2;
        for fault in 1..=2 * records.len() {
            for part in 0..=longest {
                let kept = Arc::default();
                let disk = Faulty { kept: Arc::clone(&kept), left: fault, part };
                let log = Log::on(disk, false);
                let answers: Vec<bool> = records.iter().map(|record| log.write(record).is_ok()).collect();
                assert_eq!(answers.iter().filter(|ok| !**ok).count(), 1, "the failure is told once");
                let bytes = kept.lock().unwrap();
                let mut reader = line::Reader::default();
                let mut wanted = records.iter().zip(answers).peekable();
                for line in bytes.split(|byte| *byte == b'\n') {
                    match reader.read(line) {
                        Line::Record(found) => {
                            let fits = |(record, ok): (&Record, bool)| (*record == *found, ok);
                            let (mut same, ok) = fits(wanted.next().unwrap());
                            if !same && !ok {
                                same = fits(wanted.next().unwrap()).0;
                            }
                            assert!(same, "{fault} {part}");
                        }
                        Line::Nothing => {}
                        Line::Damaged => panic!("fault {fault}, {part} bytes of it written"),
                    }
                }
                assert!(wanted.all(|(_, acknowledged)| !acknowledged), "{fault} {part}");
            }
        }
    }

    fn ended() -> Record {
        Record::StepEnded(Box::new(Ended {
            output: "é\n\"".into(),
            ..Ended::new(&Key::of("one"), State::Done)
        }))
    }

    /// A name that is not on the disk is lost with the power, and everything in the file with it.
    #[test]
    fn the_first_line_of_a_new_file_is_written_when_its_name_is_on_the_disk_too() {
        let home = tempfile::tempdir().unwrap();
        let log = Log::open(home.path(), RunId::from_u128(1)).unwrap();
        let moved = home.path().join("moved");
        fs::rename(directory(home.path()), &moved).unwrap();
        log.write(&turn(1)).unwrap_err();
        fs::rename(&moved, directory(home.path())).unwrap();
        log.write(&turn(1)).unwrap();
        fs::rename(directory(home.path()), &moved).unwrap();
        log.write(&turn(2)).unwrap();
    }
}
