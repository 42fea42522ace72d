//! Which conversations were not used for a while.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use crate::{ConversationState, ConversationView, Error, ListFilter, Rejoin};

/// Which conversations are old enough to be deleted. Those in which a turn runs never are.
#[derive(Clone, Debug)]
pub struct PruneFilter {
    /// Those last used longer ago than this; a name or a label is no use.
    pub older_than: Duration,
    /// Only of the project this directory is in.
    pub project: Option<PathBuf>,
    /// Only those with all of these labels.
    pub tags: Vec<String>,
    /// Not those that have a name.
    pub keep_named: bool,
}

impl Rejoin {
    /// The conversations that a filter selects, opened as they stand now, newest first: [`ConversationView::remove`]
    /// deletes one, unless it went on since.
    pub fn prunable(&self, filter: &PruneFilter) -> Result<Vec<ConversationView<'_>>, Error> {
        let all = ListFilter {
            project: filter.project.clone(),
            tags: filter.tags.clone(),
            ..ListFilter::default()
        };
        let now = SystemTime::now();
        let is_old =
            |used: SystemTime| now.duration_since(used).is_ok_and(|unused| unused > filter.older_than);
        self.list(&all)?
            .conversations
            .iter()
            .filter(|listed| is_old(listed.used()) && listed.state != ConversationState::Running)
            .filter(|listed| !filter.keep_named || listed.name.is_none())
            .map(|listed| self.open_conversation(listed.id))
            .collect()
    }
}
