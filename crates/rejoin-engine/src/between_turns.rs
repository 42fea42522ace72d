//! What whoever changes a conversation between its turns needs of the engine: to keep turns away, to read what is
//! built on, to append records of rejoin's own. What people decide with it is the library's.

use std::path::Path;

use rejoin_core::{ConversationId, ConversationInfo, Record, System};
use rejoin_journal::{JournalError, Lease, LeaseName, Loaded, LockError, Writer, load};

use crate::before::git;
use crate::before::lease::{end_left, owner};
use crate::during::record_writer::RecordHeader;
use crate::{Engine, TurnError};

/// A conversation that is not in use and stays so until this is dropped.
pub struct Hold {
    _lease: Lease,
}

impl Engine {
    /// Keeps turns away from a conversation; refused while one runs.
    pub fn hold(&self, id: ConversationId, what: &str) -> Result<Hold, TurnError> {
        let busy = |owner| TurnError::Busy { what: format!("conversation {}", id.short()), owner };
        match self.leases().acquire(&LeaseName::conversation(id), &owner(what), None) {
            Ok(mut lease) => {
                end_left(&mut lease).map_err(|trouble| trouble.into_error(busy))?;
                Ok(Hold { _lease: lease })
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

    /// Appends records of rejoin's own to a conversation, and waits for the disk. Those that change
    /// what the next turn builds on need a [`Hold`]; names and labels do not.
    pub fn note(
        &self,
        id: ConversationId,
        info: &ConversationInfo,
        notes: &[System],
    ) -> Result<(), JournalError> {
        let header = Self::header(id, info);
        let records: Vec<_> = notes.iter().map(|note| header.system(None, note)).collect();
        let mut journal = self.store.appender(id, Writer::Label)?;
        journal.append(&records)?;
        journal.sync()
    }

    fn header(id: ConversationId, info: &ConversationInfo) -> RecordHeader {
        let git_branch = git::branch(Path::new(&info.project));
        RecordHeader { conversation: id, cwd: info.dir.clone(), git_branch }
    }
}
