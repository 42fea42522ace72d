//! Asking a process to stop a run that does other things besides it: the daemon.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use rejoin::Rejoin;

use super::follow::{RunLines, Written};
use super::log::Log;
use super::record::{Record, RunId};
use super::stop::Stop;
use super::walk::now;
use crate::FlowError;

/// How often the log is looked at.
const GLANCE: Duration = Duration::from_millis(200);

/// Asks for it.
pub(super) fn ask_to_stop(rejoin: &Rejoin, id: RunId) -> Result<(), FlowError> {
    Ok(Log::open(rejoin.store().logs(), id)?.write(&Record::AskedToStop { time: now() })?)
}

/// What is written into a run's log from now on.
pub(super) struct Asks(RunLines);

impl Asks {
    /// Of a run that nobody else carries out: what was asked of others does not count.
    pub(super) fn from_now_on(rejoin: &Rejoin, id: RunId) -> Result<Self, FlowError> {
        let mut lines = RunLines::open(rejoin, id)?;
        while lines.next_line()?.is_some() {}
        Ok(Self(lines))
    }

    /// Does as is asked, until `over` is hung up.
    pub(super) fn obey(mut self, halt: &Stop, over: &Receiver<()>) {
        while over.recv_timeout(GLANCE) == Err(RecvTimeoutError::Timeout) {
            // A log that cannot be read now may be readable later; the run itself says what is wrong with it.
            while let Ok(Some((_, written))) = self.0.next_line() {
                if matches!(written, Written::Record(record) if matches!(*record, Record::AskedToStop { .. }))
                {
                    halt.request();
                }
            }
        }
    }
}
