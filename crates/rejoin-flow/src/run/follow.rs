//! Reading a run's log while it is written.

use std::io::{BufRead, BufReader, Read};

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
    place: std::path::PathBuf,
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
        Ok(Self {
            log: BufReader::new(logs.read(LogKind::FlowRun, id)?),
            place: logs.place(LogKind::FlowRun, id),
            reader: line::Reader::default(),
            number: 0,
            begun: Vec::new(),
        })
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
