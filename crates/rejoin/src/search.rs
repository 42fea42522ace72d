//! Full text over everything that was ever said or done.

use std::path::PathBuf;

use rejoin_core::Agent;
use rejoin_index::{Hit, Query, Search};

use crate::list::project_of;
use crate::resolve::known_agent;
use crate::{Error, Rejoin};

/// Where to search. By default everywhere.
#[derive(Clone, Debug, Default)]
pub struct SearchFilter {
    /// Only in the project this directory is in.
    pub project: Option<PathBuf>,
    /// Only turns of this agent.
    pub agent: Option<Agent>,
    /// Only in conversations with all of these labels.
    pub tags: Vec<String>,
    /// At most so many hits; 20 if not given.
    pub limit: Option<usize>,
}

/// What a search found.
#[derive(Clone, Debug)]
pub struct Found {
    /// Turns in which all words were found, best first.
    pub hits: Vec<Hit>,
    /// There may be more.
    pub more: bool,
    /// What could not be read.
    pub warnings: Vec<String>,
}

impl Rejoin {
    /// Searches for turns in which all words occur. What was said comes before what was done, words
    /// side by side before scattered ones, newer before older.
    ///
    /// ```no_run
    /// # use rejoin::{Query, Rejoin, SearchFilter};
    /// # fn main() -> Result<(), rejoin::Error> {
    /// if let Some(query) = Query::parse(&["connection refused", "retr*"]) {
    ///     for hit in Rejoin::open()?.search(&query, &SearchFilter::default())?.hits {
    ///         println!("{} {}", hit.conversation, hit.snippet);
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn search(&self, query: &Query, filter: &SearchFilter) -> Result<Found, Error> {
        let project = project_of(filter.project.as_deref());
        let mut index = self.index();
        let hits = index.search(&Search {
            query,
            project: project.as_deref(),
            agent: filter.agent.as_ref(),
            tags: &filter.tags,
            limit: filter.limit.unwrap_or(20),
        })?;
        if let Some(agent) = filter.agent.as_ref().filter(|_| hits.hits.is_empty()) {
            known_agent(agent)?;
        }
        Ok(Found { hits: hits.hits, more: hits.more, warnings: index.warnings().to_vec() })
    }
}
