//! The few things that are told of all conversations at once: no summary is read for them.

use std::time::SystemTime;

use rejoin_core::{ConversationId, TurnId};
use rejoin_journal::JournalError;

use crate::facts::{ConversationState, Facts};
use crate::index::{Compared, Index};
use crate::last_use::time_of;

/// A conversation, in short.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConversationRow {
    /// Its id.
    pub id: ConversationId,
    /// When it was last used.
    pub used: SystemTime,
    /// The project; `None` if its first record is lost, and no other tells.
    pub project: Option<String>,
    /// Its name, if it got one.
    pub name: Option<String>,
    /// Its last turn has no end: it was cut, or runs.
    pub unended: bool,
}

impl Index<'_> {
    /// All conversations of a project, or all there are, in short; those first whose files were written last.
    pub fn rows(&mut self, project: Option<&str>) -> Result<Vec<ConversationRow>, JournalError> {
        let standings = self.store.look(project)?;
        let compared = self.refresh(&standings, false);
        let mut rows: Vec<ConversationRow> =
            compared.into_iter().filter_map(|compared| self.row(compared)).collect();
        rows.retain(|row| project.is_none() || row.project.is_none() || row.project.as_deref() == project);
        Ok(rows)
    }

    fn row(&mut self, Compared { standing, known }: Compared) -> Option<ConversationRow> {
        let (used, project, name, unended) = if let Some(known) = known {
            (known.used, known.project, known.name, known.unended)
        } else {
            let Facts { summary, .. } = self.fold(&standing)?;
            (summary.used, summary.project, summary.name, is_unended(summary.state))
        };
        Some(ConversationRow { id: standing.id, used: time_of(used, &standing), project, name, unended })
    }

    /// The conversations in which a turn stands: one, or more where it was copied; those first whose files were written
    /// last. A row that was damaged may fail to name it.
    pub fn with_turn(&mut self, turn: TurnId) -> Result<Vec<ConversationId>, JournalError> {
        let standings = self.store.look(None)?;
        let compared = self.refresh(&standings, false);
        let named = self.ask(|database| database.naming(turn));
        let mut found = Vec::new();
        for Compared { standing, known } in compared {
            let has_it = match (known, &named) {
                (Some(known), Some(named)) => named.contains(&known.key),
                _ => self.fold(&standing).is_some_and(|facts| facts.turns.iter().any(|one| one.id == turn)),
            };
            if has_it {
                found.push(standing.id);
            }
        }
        Ok(found)
    }

    /// The conversations of a project that have a name, newest first.
    pub fn names(&mut self, project: &str) -> Result<Vec<(String, ConversationId)>, JournalError> {
        let named = |row: ConversationRow| row.name.map(|name| (name, row.id));
        Ok(self.rows(Some(project))?.into_iter().filter_map(named).collect())
    }
}

/// No journal says that a turn runs: one without an end may.
pub(crate) fn is_unended(state: ConversationState) -> bool {
    matches!(state, ConversationState::Interrupted | ConversationState::Running)
}
