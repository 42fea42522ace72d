//! What is told of all conversations at once, without a look at each: their projects, and those that run.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::time::UNIX_EPOCH;

use rejoin_core::{ConversationId, TurnId};

use crate::{Error, Rejoin};

/// A project that has conversations.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ListedProject {
    /// Its root.
    pub path: String,
    /// How many conversations it has.
    pub conversations: usize,
    /// In how many of them a turn runs now.
    pub running: usize,
    /// When one was last used, in milliseconds since 1970.
    pub used_ms: u64,
}

impl Rejoin {
    /// The projects that have conversations, the one used last first. Conversations that lost theirs belong to none.
    pub fn projects(&self) -> Result<Vec<ListedProject>, Error> {
        let mut projects: HashMap<String, ListedProject> = HashMap::new();
        for row in self.index().rows(None)? {
            let Some(path) = row.project else { continue };
            let used = row.used.duration_since(UNIX_EPOCH).unwrap_or_default();
            let empty = || ListedProject { path: path.clone(), conversations: 0, running: 0, used_ms: 0 };
            let project = projects.entry(path.clone()).or_insert_with(empty);
            project.conversations += 1;
            project.running += usize::from(row.unended && self.is_running(row.id));
            project.used_ms = project.used_ms.max(used.as_millis().try_into().unwrap_or(u64::MAX));
        }
        let mut projects: Vec<ListedProject> = projects.into_values().collect();
        projects.sort_by(|one, other| {
            (Reverse(one.used_ms), &one.path).cmp(&(Reverse(other.used_ms), &other.path))
        });
        Ok(projects)
    }

    /// The conversations in which a turn runs now, in whichever process; the one written last first.
    pub fn running(&self) -> Result<Vec<ConversationId>, Error> {
        let mut rows = self.index().rows(None)?;
        // Those whose last turn has an end are not asked who is at them.
        rows.retain(|row| row.unended && self.is_running(row.id));
        Ok(rows.into_iter().map(|row| row.id).collect())
    }

    /// The conversations in which a turn stands: one, or more where it was copied; the one written last first.
    pub fn with_turn(&self, turn: TurnId) -> Result<Vec<ConversationId>, Error> {
        Ok(self.index().with_turn(turn)?)
    }
}
