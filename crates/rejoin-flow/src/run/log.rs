//! The log of a run, in whatever store it is kept: appended to, never changed.

use std::io::{self, BufRead, BufReader};
use std::sync::{Mutex, PoisonError};

use rejoin_journal::{JournalError, LogEnd, LogKind, Logs};
use serde::de::DeserializeOwned;

use super::line::{self, Line};
use super::record::{Record, RunId};

/// An open file of a run. Several threads may write.
pub(crate) struct Log {
    file: Mutex<Appended>,
}

struct Appended {
    end: Box<dyn LogEnd>,
    /// The last line may have been cut.
    torn: bool,
}

impl Log {
    /// Opens a file, and makes it if it is not there.
    pub(crate) fn open(logs: &dyn Logs, id: RunId) -> Result<Self, JournalError> {
        Ok(Self::on(logs.open(LogKind::FlowRun, id)?))
    }

    fn on(end: Box<dyn LogEnd>) -> Self {
        Self { file: Mutex::new(Appended { torn: end.is_torn(), end }) }
    }

    /// Appends one record and waits for the disk.
    pub(crate) fn write(&self, record: &Record) -> Result<(), JournalError> {
        let line = line::sealed(record).map_err(|cause| JournalError::NotJson { cause })? + "\n";
        let mut appended = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        // The next line is not to be taken for the rest of one that was cut.
        let line = if appended.torn { format!("\n{line}") } else { line };
        appended.torn = true;
        appended.end.append(line.as_bytes())?;
        appended.end.sync()?;
        appended.torn = false;
        Ok(())
    }
}

/// All lines of a file with their numbers, one after the other: a run may be longer than we want to hold.
pub(crate) fn lines(
    logs: &dyn Logs,
    id: RunId,
) -> Result<impl Iterator<Item = Result<(usize, Line), JournalError>>, JournalError> {
    let mut reader = line::Reader::default();
    let lines = bytes(logs, id)?.enumerate();
    Ok(lines.map(move |(at, line)| Ok((at + 1, reader.read(&line?)))))
}

/// The first line that was written to its end.
pub(crate) fn first_line(logs: &dyn Logs, id: RunId) -> Result<Option<Vec<u8>>, JournalError> {
    let whole = |line: &Result<Vec<u8>, _>| match line {
        Ok(line) => !matches!(line::Reader::default().read(line), Line::Nothing),
        Err(_) => true,
    };
    bytes(logs, id)?.find(whole).transpose()
}

/// What can be read of a file in this shape, whatever became of the rest: for lists.
pub(crate) fn glance<T: DeserializeOwned>(
    logs: &dyn Logs,
    id: RunId,
) -> Result<impl Iterator<Item = Result<T, JournalError>>, JournalError> {
    Ok(bytes(logs, id)?.filter_map(|line| match line {
        Ok(line) => serde_json::from_slice(&line).ok().map(Ok),
        Err(error) => Some(Err(error)),
    }))
}

fn bytes(
    logs: &dyn Logs,
    id: RunId,
) -> Result<impl Iterator<Item = Result<Vec<u8>, JournalError>>, JournalError> {
    let log = BufReader::new(logs.read(LogKind::FlowRun, id)?);
    let path = logs.place(LogKind::FlowRun, id);
    let io = move |cause: io::Error| JournalError::Io { what: "read", path: path.clone(), cause };
    Ok(log.split(b'\n').map(move |line| line.map_err(&io)))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;

    use rejoin_journal::{FileStore, Store};

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
                let cause = io::ErrorKind::StorageFull.into();
                return Err(JournalError::Io { what: "write", path: "log".into(), cause });
            }
            Ok(())
        }
    }

    impl LogEnd for Faulty {
        fn is_torn(&self) -> bool {
            false
        }

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
                let log = Log::on(Box::new(disk));
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
        let store = FileStore::new(home.path());
        let log = Log::open(store.logs(), RunId::from_u128(1)).unwrap();
        let directory = home.path().join("flows");
        let moved = home.path().join("moved");
        fs::rename(&directory, &moved).unwrap();
        log.write(&turn(1)).unwrap_err();
        fs::rename(&moved, &directory).unwrap();
        log.write(&turn(1)).unwrap();
        fs::rename(&directory, &moved).unwrap();
        log.write(&turn(2)).unwrap();
    }
}
