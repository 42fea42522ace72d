//! Reading a run's log while it is written.

use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;

use rejoin::Rejoin;
use rejoin_journal::{JournalError, LogKind};

use super::line::{self, Line};
use super::record::{Record, RunId};
use crate::FlowError;

/// What one line of a run's log says.
#[derive(Clone, PartialEq, Debug)]
pub enum Written {
    /// What was written down.
    Record(Box<Record>),
    /// It is not any more what it was.
    Damaged,
}

/// The lines of a run, from the first one on; those that are written later come later. The store has to be one
/// whose logs can be read on, as files can.
pub struct RunLines {
    log: BufReader<Box<dyn Read + Send>>,
    place: PathBuf,
    reader: line::Reader,
    /// The number of the last line that was read.
    number: usize,
    /// The beginning of a line that is being written.
    begun: Vec<u8>,
}

impl RunLines {
    /// Begins with the first line.
    pub fn open(rejoin: &Rejoin, id: RunId) -> Result<Self, FlowError> {
        let logs = rejoin.store().logs();
        Ok(Self::on(logs.read(LogKind::FlowRun, id)?, logs.place(LogKind::FlowRun, id)))
    }

    fn on(log: Box<dyn Read + Send>, place: PathBuf) -> Self {
        Self {
            log: BufReader::new(log),
            place,
            reader: line::Reader::default(),
            number: 0,
            begun: Vec::new(),
        }
    }

    /// The next line with its number, counted from 1; `None` if there is none yet.
    pub fn next_line(&mut self) -> Result<Option<(usize, Written)>, FlowError> {
        loop {
            let io = |cause| JournalError::Io { what: "read", path: self.place.clone(), cause };
            self.log.read_until(b'\n', &mut self.begun).map_err(io)?;
            if self.begun.pop_if(|last| *last == b'\n').is_none() {
                return Ok(None);
            }
            self.number += 1;
            match self.reader.read(&std::mem::take(&mut self.begun)) {
                Line::Nothing => {}
                Line::Record(record) => return Ok(Some((self.number, Written::Record(record)))),
                Line::Damaged => return Ok(Some((self.number, Written::Damaged))),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use super::super::record::State;
    use super::*;

    /// A log that grows while it is read.
    #[derive(Clone, Default)]
    struct Growing(Arc<Mutex<Vec<u8>>>, usize);

    impl Read for Growing {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let log = self.0.lock().unwrap();
            let count = (&log[self.1..]).read(into)?;
            self.1 += count;
            Ok(count)
        }
    }

    #[test]
    fn a_line_is_told_once_it_is_whole_and_one_that_was_cut_only_counts() {
        let record = |code| Record::Result { state: State::Done, code, time: "now".into() };
        let log = Growing::default();
        let write = |bytes: &[u8]| log.0.lock().unwrap().extend_from_slice(bytes);
        let mut lines = RunLines::on(Box::new(log.clone()), "log".into());
        assert_eq!(lines.next_line().unwrap(), None);
        let first = line::sealed(&record(1)).unwrap() + "\n";
        for byte in first.bytes() {
            assert_eq!(lines.next_line().unwrap(), None);
            write(&[byte]);
        }
        assert_eq!(lines.next_line().unwrap(), Some((1, Written::Record(Box::new(record(1))))));
        let second = line::sealed(&record(2)).unwrap();
        write(&second.as_bytes()[..20]);
        assert_eq!(lines.next_line().unwrap(), None);
        write(format!("\n{second}\n").as_bytes());
        assert_eq!(lines.next_line().unwrap(), Some((3, Written::Record(Box::new(record(2))))));
        write(second.replace("done", "dane").as_bytes());
        write(b"\n");
        assert_eq!(lines.next_line().unwrap(), Some((4, Written::Damaged)));
        assert_eq!(lines.next_line().unwrap(), None);
    }
}
