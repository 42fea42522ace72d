//! Where the conversations of a home came from, kept beside the journals: what a journal says of
//! itself can be forged.
//!
//! `origins/<id>.here` (empty) stands for a conversation that was begun here. It needs no sync of its
//! own: as a mere name it comes to the disk with the journal, and without it the conversation only
//! counts as one from elsewhere. `origins/<id>.json` stands for one from elsewhere, with what the user
//! said about it here, and outweighs the other. `origins/inventory` lists the journals that were here
//! when a version that keeps all this first wrote to the home.

use std::collections::HashSet;
use std::fs::{self, OpenOptions};
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use rejoin_core::{ConversationId, Origin, SaidHere};
use rejoin_files::read_regular_file;
use serde::{Deserialize, Serialize};

use crate::{FileStore, JournalError, LeaseName, LockError, Locks, Owner, Store, private};

/// What is known of where conversations came from.
#[derive(Clone, Debug)]
pub struct Origins {
    root: PathBuf,
    store: FileStore,
}

/// A conversation from elsewhere, as it stands in its file.
#[derive(Serialize, Deserialize)]
struct Kept {
    /// A word for people: it says what the name of the file does.
    #[serde(default)]
    from: String,
    #[serde(flatten)]
    said: SaidHere,
}

/// What the home knows of a conversation, before anybody looks into its journal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum KnownOrigin {
    /// Where it came from.
    Noted(Origin),
    /// It was here before such things were noted.
    Before,
    /// Nothing.
    Nothing,
}

/// More ids than any home has.
const LONGEST_INVENTORY: u64 = 256 << 20;
/// More than anybody says.
const LONGEST_ORIGIN: u64 = 1 << 20;
/// How long to wait for another process that takes the inventory.
const PATIENCE: Duration = Duration::from_secs(30);

impl Origins {
    pub(crate) fn new(root: PathBuf, store: FileStore) -> Self {
        Self { root, store }
    }

    /// What is known of a conversation. What cannot be read is as good as nothing said.
    pub fn known(&self, id: ConversationId) -> Result<KnownOrigin, JournalError> {
        match read_regular_file(&self.elsewhere(id), LONGEST_ORIGIN) {
            Ok(bytes) => {
                let kept: Option<Kept> = serde_json::from_slice(&bytes).ok();
                let said = kept.map(|kept| kept.said).unwrap_or_default();
                return Ok(KnownOrigin::Noted(Origin::Elsewhere(said)));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(JournalError::io("read", &self.elsewhere(id))(error)),
        }
        if self.here(id).exists() {
            return Ok(KnownOrigin::Noted(Origin::Here));
        }
        let was_here = match self.inventory()? {
            Some(ids) => ids.contains(&id),
            None => true,
        };
        Ok(if was_here { KnownOrigin::Before } else { KnownOrigin::Nothing })
    }

    /// Notes that a conversation is begun here. To be called before its journal is made.
    pub fn note_here(&self, id: ConversationId) -> Result<(), JournalError> {
        self.prepare()?;
        private::open(OpenOptions::new().write(true).create(true).truncate(false), &self.here(id))?;
        Ok(())
    }

    /// Notes that a conversation came from elsewhere, and what was said about it here; on the disk when
    /// it returns. To be called before anything of it is put in place.
    pub fn note_elsewhere(&self, id: ConversationId, said: &SaidHere) -> Result<(), JournalError> {
        self.prepare()?;
        let kept = Kept { from: "elsewhere".to_owned(), said: said.clone() };
        let text = serde_json::to_string(&kept).map_err(|cause| JournalError::NotJson { cause })? + "\n";
        private::write_atomically(&self.elsewhere(id), text.as_bytes())
    }

    /// Notes the origin of a conversation as somebody else found it.
    pub fn note(&self, id: ConversationId, origin: &Origin) -> Result<(), JournalError> {
        match origin {
            Origin::Here => self.note_here(id),
            Origin::Elsewhere(said) => self.note_elsewhere(id, said),
        }
    }

    /// Forgets a conversation that is gone.
    pub fn forget(&self, id: ConversationId) {
        for path in [self.here(id), self.elsewhere(id)] {
            let _ = fs::remove_file(path);
        }
    }

    /// Takes the inventory, once for all times: from then on, what nobody noted came from elsewhere.
    fn prepare(&self) -> Result<(), JournalError> {
        let path = self.inventory_file();
        if path.is_file() {
            return Ok(());
        }
        private::create_dir(&self.directory())?;
        let owner = Owner::this_process("rejoin", "taking an inventory", "");
        let locks = Locks::new(self.root.join("locks"));
        let _lease =
            locks.acquire(LeaseName::origins(), &owner, Some(PATIENCE)).map_err(|error| match error {
                LockError::Journal(error) => error,
                LockError::Busy { .. } | LockError::Name { .. } => {
                    JournalError::AppendLocked { path: path.clone(), waited: PATIENCE }
                }
            })?;
        if path.is_file() {
            return Ok(());
        }
        let ids: Vec<String> = self.store.ids()?.iter().map(ToString::to_string).collect();
        private::write_atomically(&path, ids.join("\n").as_bytes())
    }

    /// The conversations that were here before; `None` if no inventory was taken yet.
    fn inventory(&self) -> Result<Option<HashSet<ConversationId>>, JournalError> {
        let path = self.inventory_file();
        match read_regular_file(&path, LONGEST_INVENTORY) {
            Ok(bytes) => {
                let text = String::from_utf8_lossy(&bytes);
                Ok(Some(text.lines().filter_map(|line| line.parse().ok()).collect()))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(JournalError::io("read", &path)(error)),
        }
    }

    fn directory(&self) -> PathBuf {
        self.root.join("origins")
    }

    fn inventory_file(&self) -> PathBuf {
        self.directory().join("inventory")
    }

    fn here(&self, id: ConversationId) -> PathBuf {
        self.directory().join(format!("{id}.here"))
    }

    fn elsewhere(&self, id: ConversationId) -> PathBuf {
        self.directory().join(format!("{id}.json"))
    }
}
