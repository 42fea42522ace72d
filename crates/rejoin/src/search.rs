//! Full text over everything that was ever said or done.

use std::collections::BTreeSet;
use std::path::PathBuf;

use rejoin_core::{Agent, ConversationId, MessageId, TurnId};
use rejoin_index::{Hit, Query, Search, TextSource};
use serde::Serialize;

use crate::list::{TITLE_WIDTH, project_of};
use crate::resolve::known_agent;
use crate::{Error, Rejoin, one_line};

/// Where to search. By default everywhere.
#[derive(Clone, Debug, Default)]
pub struct SearchFilter {
    /// Only in the project this directory is in.
    pub project: Option<PathBuf>,
    /// Besides in these: those of [`OtherPlaces`](crate::OtherPlaces) that are its own by now.
    pub also: BTreeSet<ConversationId>,
    /// Only turns of this agent.
    pub agent: Option<Agent>,
    /// Only in conversations with all of these labels.
    pub tags: Vec<String>,
    /// At most so many hits; 20 if not given.
    pub limit: Option<usize>,
}

/// What a search found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SearchResults {
    /// Turns in which all words were found, best first.
    pub hits: Vec<SearchHit>,
    /// There may be more.
    pub more: bool,
    /// What could not be read.
    pub warnings: Vec<String>,
}

/// A turn in which all words were found, as `rejoin search --json` prints it.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct SearchHit {
    /// The conversation.
    pub conversation: ConversationId,
    /// Its name, if it got one.
    pub name: Option<String>,
    /// The first line of its first prompt.
    pub title: String,
    /// The project it belongs to.
    pub project: Option<String>,
    /// The turn; `None` if the conversation's name was found.
    pub turn: Option<TurnId>,
    /// The message in it.
    pub message: Option<MessageId>,
    /// The agent of the turn.
    pub agent: Option<Agent>,
    /// Who said it, or what it came from.
    pub source: TextSource,
    /// All words were said, not done.
    pub said: bool,
    /// When the turn began, in milliseconds since 1970; else when the conversation was last used.
    pub time_ms: i64,
    /// The text around it, on one line.
    pub snippet: String,
    /// Where in it the words stand that were looked for: from byte to byte.
    pub marks: Vec<[usize; 2]>,
}

impl From<Hit> for SearchHit {
    fn from(hit: Hit) -> Self {
        Self {
            conversation: hit.conversation,
            title: one_line(&hit.summary.title, TITLE_WIDTH),
            name: hit.summary.name,
            project: hit.summary.project,
            turn: hit.turn,
            message: hit.message,
            agent: hit.agent,
            source: hit.source,
            said: hit.said,
            time_ms: hit.time,
            snippet: hit.snippet,
            marks: hit.marks.into_iter().map(|mark| [mark.start, mark.end]).collect(),
        }
    }
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
    pub fn search(&self, query: &Query, filter: &SearchFilter) -> Result<SearchResults, Error> {
        let project = project_of(filter.project.as_deref());
        let mut index = self.index();
        let found = index.search(&Search {
            query,
            project: project.as_deref(),
            also: &filter.also,
            agent: filter.agent.as_ref(),
            tags: &filter.tags,
            limit: filter.limit.unwrap_or(20),
        })?;
        if let Some(agent) = filter.agent.as_ref().filter(|_| found.hits.is_empty()) {
            known_agent(agent)?;
        }
        let hits = found.hits.into_iter().map(SearchHit::from).collect();
        Ok(SearchResults { hits, more: found.more, warnings: index.warnings().to_vec() })
    }
}
