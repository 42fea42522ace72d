//! Which project a journal is of, with as little reading as that takes: its first record says it, and any later one may
//! say that it moved.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::ControlFlow;

use rejoin_core::{ConversationId, Envelope, System};
use rejoin_journal::{JournalError, JournalState, Store};

use crate::database::JournalRow;
use crate::facts::Facts;
use crate::index::Index;

/// So much is read through; of more, what was learnt before is asked, and what is learnt is kept.
const SMALL: u64 = 1 << 20;

/// So many bytes of journals are folded on the way, for whoever asks next.
const LEARNT_AT_ONCE: u64 = 32 << 20;

impl Index<'_> {
    /// The journals of each project, those first whose files were written last. Of what the cache does not know yet, it
    /// learns a part, the newest; the projects of the rest are told with little reading. Journals that do not say where
    /// they belong, or cannot be read, are left out.
    pub fn by_project(&mut self) -> Result<HashMap<String, Vec<JournalState>>, JournalError> {
        let mut standings = self.store.look(None)?;
        standings.sort_unstable_by_key(|standing| (Reverse(standing.modified), standing.id));
        let known = self.known(&standings);
        let is_new =
            |standing: &&JournalState| known.get(&standing.id).is_none_or(|row| row.standing != **standing);
        let mut left = LEARNT_AT_ONCE;
        let fits = |standing: &&JournalState| {
            left = left.saturating_sub(standing.bytes);
            left > 0
        };
        let new: Vec<JournalState> = standings.iter().filter(is_new).take_while(fits).copied().collect();
        let mut known = if new.is_empty() {
            known
        } else {
            self.refresh(&new, false);
            self.known(&standings)
        };
        let mut projects: HashMap<String, Vec<JournalState>> = HashMap::new();
        for standing in &standings {
            let row = known.remove(&standing.id);
            let project = match row {
                Some(row) if row.standing == *standing => row.project,
                row => self
                    .project_told(standing, row)
                    .or_else(|| Facts::read(self.store, standing.id).ok()?.summary.project),
            };
            if let Some(project) = project {
                projects.entry(project).or_default().push(*standing);
            }
        }
        Ok(projects)
    }

    /// Whether a journal, with what the cache holds of it, new or old, is of a project; one that does not say is
    /// everywhere at home, and one that is gone or cannot be read nowhere, which is told.
    pub(crate) fn may_be_of(
        &mut self,
        project: &str,
        standing: &JournalState,
        row: Option<JournalRow>,
    ) -> bool {
        let its = |its: Option<String>| its.is_none_or(|its| its == project);
        if let Some(row) = row.as_ref().filter(|row| row.standing == *standing) {
            return its(row.project.clone());
        }
        if let Some(told) = self.project_told(standing, row) {
            return told == project;
        }
        match self.refresh(&[*standing], false).pop().and_then(|compared| compared.known) {
            Some(row) => its(row.project),
            None => self.fold(standing).is_some_and(|facts| its(facts.summary.project)),
        }
    }

    /// What a little reading tells; `None` if that is not enough.
    fn project_told(&mut self, standing: &JournalState, row: Option<JournalRow>) -> Option<String> {
        if standing.bytes <= SMALL {
            return project_of_small(self.store, standing.id);
        }
        let grew = |was: JournalState| was.file == standing.file && was.bytes < standing.bytes;
        let row = row.filter(|row| grew(row.standing))?;
        let last = self.ask(|database| database.last_unchecked(row.key))??;
        // Whatever its row does not know stands behind that record, if it is still the same journal.
        let known = last.place < row.standing.bytes && last.holds(self.store, standing.id);
        if !known || standing.bytes - row.standing.bytes > SMALL {
            return None;
        }
        let mut moved = None;
        let behind = self.store.read(standing.id, last.place, &mut |entry| {
            moved = entry.content.ok().as_ref().and_then(moved_to).or(moved.take());
        });
        behind.ok()?;
        moved.or(row.project)
    }
}

/// What the first record says, or the last one that moved it. `None` if the first is lost: others may tell.
fn project_of_small(store: &dyn Store, id: ConversationId) -> Option<String> {
    let mut project = None;
    let first = store.fetch(id, &[0], &mut |_, raw| {
        let told = raw.ok().and_then(|raw| raw.envelope().ok()?.system());
        if let Some(System::Conversation(info)) = told {
            project = Some(info.project);
        }
    });
    first.ok()?;
    project.as_ref()?;
    let moves = store.search(id, "\"moved\"", &mut |raw| {
        project = raw.envelope().ok().as_ref().and_then(moved_to).or(project.take());
        ControlFlow::Continue(())
    });
    moves.ok()?;
    project
}

fn moved_to(envelope: &Envelope<'_>) -> Option<String> {
    match envelope.subtype.as_deref().filter(|subtype| *subtype == "moved").and(envelope.system())? {
        System::Moved { project, .. } => Some(project),
        _ => None,
    }
}
