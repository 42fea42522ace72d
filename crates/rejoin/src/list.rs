//! Lists of conversations.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rejoin_core::{Agent, ConversationId};
use rejoin_index::{Filter, Summary};

use crate::builder::known_agent;
use crate::{Error, Rejoin};

/// Which conversations to list. By default all there are.
#[derive(Clone, Debug, Default)]
pub struct ListFilter {
    /// Only of the project this directory is in.
    pub project: Option<PathBuf>,
    /// Only those in which this agent took a turn.
    pub agent: Option<Agent>,
    /// Only those with all of these labels.
    pub tags: Vec<String>,
    /// Only those used since then.
    pub since: Option<SystemTime>,
    /// At most so many.
    pub limit: Option<usize>,
}

/// Conversations, newest first.
#[derive(Clone, Debug)]
pub struct Listing {
    /// The newest ones.
    pub conversations: Vec<Listed>,
    /// There are older ones.
    pub more: bool,
    /// What could not be read.
    pub warnings: Vec<String>,
}

/// A conversation in a list.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Its id.
    pub id: ConversationId,
    /// When it was last used: a name, a label, a copy of its file is no use.
    pub used: SystemTime,
    /// A turn is running now.
    pub running: bool,
    /// The file it is kept in.
    pub file: Option<PathBuf>,
    /// What is told of it.
    pub summary: Summary,
}

impl Rejoin {
    /// Lists conversations, newest first.
    ///
    /// ```no_run
    /// # use rejoin::{ListFilter, Rejoin};
    /// # fn main() -> Result<(), rejoin::Error> {
    /// let here = ListFilter { project: Some(".".into()), limit: Some(10), ..ListFilter::default() };
    /// for one in Rejoin::open()?.list(&here)?.conversations {
    ///     println!("{} {}", one.id, one.summary.title);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn list(&self, filter: &ListFilter) -> Result<Listing, Error> {
        let project = project_of(filter.project.as_deref());
        let mut index = self.index();
        let list = index.list(&Filter {
            project: project.as_deref(),
            agent: filter.agent.as_ref(),
            tags: &filter.tags,
            since: filter.since,
            limit: filter.limit,
        })?;
        let listed = |listed: rejoin_index::Listed| Listed {
            id: listed.id,
            used: listed.used,
            running: self.is_running(listed.id),
            file: self
                .engine
                .store()
                .files()
                .ok()
                .and_then(|files| files.file(listed.id, project.as_deref())),
            summary: listed.summary,
        };
        if let Some(agent) = filter.agent.as_ref().filter(|_| list.conversations.is_empty()) {
            known_agent(agent)?;
        }
        Ok(Listing {
            conversations: list.conversations.into_iter().map(listed).collect(),
            more: list.more,
            warnings: index.warnings().to_vec(),
        })
    }

    /// The labels in use, in the project a directory is in or in all.
    pub fn tags(&self, project: Option<PathBuf>) -> Result<BTreeSet<String>, Error> {
        let all = self.list(&ListFilter { project, ..ListFilter::default() })?;
        Ok(all.conversations.into_iter().flat_map(|listed| listed.summary.tags).collect())
    }
}

pub(crate) fn project_of(dir: Option<&Path>) -> Option<String> {
    dir.map(|dir| rejoin_engine::project_of(dir).to_string_lossy().into_owned())
}
