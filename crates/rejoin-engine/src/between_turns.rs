//! What whoever changes a conversation between its turns needs of the engine: to keep turns away, to read what is
//! built on, to append records of rejoin's own. What people decide with it is the library's.

use std::path::Path;

use rejoin_core::{ConversationId, ConversationInfo, Record, System};
use rejoin_journal::{JournalError, Lease, LeaseName, Loaded, LockError, Writer, load};

use crate::before::git;
use crate::before::lease::{end_left, owner};
use crate::during::record_writer::RecordHeader;
use crate::{EarlyLease, Engine, TurnError};

/// A conversation that is not in use and stays so until this is dropped.
pub struct Hold {
    conversation: ConversationId,
    lease: Lease,
}

impl Hold {
    /// Which.
    pub fn conversation(&self) -> ConversationId {
        self.conversation
    }

    /// As what is written under it: refused once the lease is gone, like what a turn writes.
    pub fn writer(&self) -> Writer {
        Writer::Turn(self.lease.token().clone())
    }
}

impl Engine {
    /// Keeps turns away from a conversation; refused while one runs.
    pub fn hold(&self, id: ConversationId, what: &str) -> Result<Hold, TurnError> {
        let busy = |owner| TurnError::Busy { what: format!("conversation {}", id.short()), owner };
        match self.leases().acquire(&LeaseName::conversation(id), &owner(what), None) {
            Ok(mut lease) => {
                end_left(&mut lease).map_err(|trouble| trouble.into_error(busy))?;
                Ok(Hold { conversation: id, lease })
            }
            Err(LockError::Busy { owner, .. }) => Err(busy(owner)),
            Err(LockError::Journal(error)) => Err(error.into()),
            Err(error @ LockError::Name { .. }) => Err(TurnError::Usage(error.to_string())),
        }
    }

    /// Reads a conversation to build on it. One of a newer format is refused: what this version
    /// misunderstands of it, it would build on.
    pub fn load_to_write(&self, id: ConversationId) -> Result<Loaded, TurnError> {
        Self::check_format(id, load(self.store(), id)?)
    }

    pub(crate) fn check_format(id: ConversationId, loaded: Loaded) -> Result<Loaded, TurnError> {
        match loaded.newer_format() {
            None => Ok(loaded),
            Some(format) => Err(TurnError::Usage(format!(
                "conversation {} is written in format {format} by a newer rejoin, of which this one may misunderstand something, so it only reads it (`rejoin show`); update rejoin to go on with it",
                id.short()
            ))),
        }
    }

    /// A record of rejoin's own that belongs to no turn, as it is written now.
    pub fn record(id: ConversationId, info: &ConversationInfo, system: &System) -> Record {
        Self::header(id, info).system(None, system)
    }

    /// Appends names and labels to a conversation, which may come at any time, and waits for the disk. What changes
    /// what the next turn builds on is written [under a hold](Self::note_under).
    pub fn note(
        &self,
        id: ConversationId,
        info: &ConversationInfo,
        notes: &[System],
    ) -> Result<(), JournalError> {
        self.append_notes(id, info, notes, Writer::Label)
    }

    /// Appends records of rejoin's own to a conversation that is held, and waits for the disk.
    pub fn note_under(
        &self,
        hold: &Hold,
        info: &ConversationInfo,
        notes: &[System],
    ) -> Result<(), JournalError> {
        self.append_notes(hold.conversation, info, notes, hold.writer())
    }

    /// The same for one that is leased for a turn.
    pub fn note_before_turn(
        &self,
        id: ConversationId,
        lease: &EarlyLease,
        info: &ConversationInfo,
        notes: &[System],
    ) -> Result<(), JournalError> {
        self.append_notes(id, info, notes, lease.writer())
    }

    fn append_notes(
        &self,
        id: ConversationId,
        info: &ConversationInfo,
        notes: &[System],
        writer: Writer,
    ) -> Result<(), JournalError> {
        let header = Self::header(id, info);
        let records: Vec<_> = notes.iter().map(|note| header.system(None, note)).collect();
        let mut journal = self.store.appender(id, writer)?;
        journal.append(&records)?;
        journal.sync()
    }

    fn header(id: ConversationId, info: &ConversationInfo) -> RecordHeader {
        let git_branch = git::branch(Path::new(&info.project));
        RecordHeader { conversation: id, cwd: info.dir.clone(), git_branch }
    }
}
