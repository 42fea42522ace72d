//! Which project a journal is of, with as little reading as that takes: its first record says it, and any later one may
//! say that it moved.

use std::ops::ControlFlow;

use rejoin_core::{ConversationId, Envelope, System};
use rejoin_journal::{JournalState, Store};

use crate::database::JournalRow;
use crate::index::Index;

/// So much is read through; of more, what was learnt before is asked, and what is learnt is kept.
const SMALL: u64 = 1 << 20;

impl Index<'_> {
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
