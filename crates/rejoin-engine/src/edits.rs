//! What the user decides about a conversation between turns, written down.

use std::path::Path;

use rejoin_core::{ConversationId, ConversationInfo, System};
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

    /// Appends records of rejoin's own to a conversation, and waits for the disk. Those that change
    /// what the next turn builds on need a [`Hold`]; names and labels do not.
    pub fn note(
        &self,
        id: ConversationId,
        info: &ConversationInfo,
        notes: &[System],
    ) -> Result<(), TurnError> {
        Ok(self.append_synced(id, info, notes)?)
    }

    /// Puts a conversation, which is [held](Hold), among those of another project, and says so in it.
    pub fn relocate(
        &self,
        id: ConversationId,
        info: &ConversationInfo,
        project: &str,
        dir: &str,
    ) -> Result<(), TurnError> {
        let moved = [System::Moved { project: project.to_owned(), dir: dir.to_owned() }];
        Ok(self.store.files()?.relocate(id, project, &mut || self.append_synced(id, info, &moved))?)
    }

    /// The line that says so, for a conversation that is not here yet.
    pub fn moved_line(id: ConversationId, info: &ConversationInfo, project: &str, dir: &str) -> String {
        let moved = System::Moved { project: project.to_owned(), dir: dir.to_owned() };
        let record = record_header(id, info).system(None, &moved);
        serde_json::to_string(&record).unwrap_or_default() + "\n"
    }

    fn append_synced(
        &self,
        id: ConversationId,
        info: &ConversationInfo,
        notes: &[System],
    ) -> Result<(), JournalError> {
        let head = record_header(id, info);
        let records: Vec<_> = notes.iter().map(|note| head.system(None, note)).collect();
        let mut journal = self.store.appender(id, Writer::Label)?;
        journal.append(&records)?;
        journal.sync()
    }
}

fn record_header(id: ConversationId, info: &ConversationInfo) -> RecordHeader {
    let git_branch = git::branch(Path::new(&info.project));
    RecordHeader { conversation: id, cwd: info.dir.clone(), git_branch }
}
