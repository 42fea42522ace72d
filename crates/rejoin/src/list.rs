//! Lists of conversations.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rejoin_core::{Agent, ConversationId, Usage};
use rejoin_index::{ConversationEntry, ConversationFilter, ConversationState, ListPlace};
use serde::{Deserialize, Serialize};

use crate::resolve::known_agent;
use crate::{Error, Rejoin, one_line};

/// How much of what a conversation begins with is its title, in columns.
pub(crate) const TITLE_WIDTH: usize = 200;

/// Which conversations to list. By default all there are.
#[derive(Clone, Debug, Default)]
pub struct ListFilter {
    /// Only of the project this directory is in.
    pub project: Option<PathBuf>,
    /// Besides these: those of [`OtherPlaces`](crate::OtherPlaces) that are its own by now.
    pub also: BTreeSet<ConversationId>,
    /// Only those in which this agent took a turn.
    pub agent: Option<Agent>,
    /// Only those with all of these labels.
    pub tags: Vec<String>,
    /// Only those with none of these labels.
    pub without_tags: Vec<String>,
    /// Only those used since then.
    pub since: Option<SystemTime>,
    /// Only those that stand like this.
    pub state: Option<ConversationState>,
    /// Only these.
    pub only: Option<BTreeSet<ConversationId>>,
    /// Only those behind this place in the list.
    pub behind: Option<ListPlace>,
    /// At most so many.
    pub limit: Option<usize>,
}

/// Conversations, newest first.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Listing {
    /// The newest ones.
    pub conversations: Vec<ListedConversation>,
    /// There are older ones.
    pub more: bool,
    /// What could not be read.
    pub warnings: Vec<String>,
}

/// A conversation in a list, as `rejoin ls --json` prints it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct ListedConversation {
    /// Its id.
    pub id: ConversationId,
    /// Its name, if it got one.
    pub name: Option<String>,
    /// The first line of the first prompt.
    pub title: String,
    /// The project; `None` if its first record is lost, and no other tells.
    pub project: Option<String>,
    /// The directory it lives in.
    pub dir: Option<String>,
    /// The git branch its last turn ran on.
    pub git_branch: Option<String>,
    /// The named branch of the conversation the next turn goes on.
    pub branch: Option<String>,
    /// How many branches it has: turns that nothing hangs on.
    pub branches: usize,
    /// Its labels.
    pub tags: BTreeSet<String>,
    /// The agents that took turns, in the order they came.
    pub agents: Vec<Agent>,
    /// How many turns there are, on all branches.
    pub turns: usize,
    /// How many messages there are in them: of the user, of agents, of tools.
    pub messages: usize,
    /// When its first turn began, in milliseconds since 1970.
    pub started_ms: Option<i64>,
    /// When it was last used, in milliseconds since 1970: a name, a label, a copy of its file is no use.
    pub used_ms: u64,
    /// Tokens of all turns.
    pub usage: Usage,
    /// Cost of all turns in US dollars, where agents tell.
    pub cost: Option<f64>,
    /// How it stands.
    pub state: ConversationState,
    /// The file it is kept in.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub file: Option<PathBuf>,
}

impl ListedConversation {
    /// When it was last used.
    pub fn used(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_millis(self.used_ms)
    }
}

impl Rejoin {
    /// Lists conversations, newest first.
    ///
    /// ```no_run
    /// # use rejoin::{ListFilter, Rejoin};
    /// # fn main() -> Result<(), rejoin::Error> {
    /// let here = ListFilter { project: Some(".".into()), limit: Some(10), ..ListFilter::default() };
    /// for one in Rejoin::open()?.list(&here)?.conversations {
    ///     println!("{} {} ({})", one.id, one.title, one.state.name());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn list(&self, filter: &ListFilter) -> Result<Listing, Error> {
        self.list_where(filter, &|_| true)
    }

    /// The same, of those projects only (`None` for conversations that lost theirs) of which `accept` says so.
    pub fn list_where(
        &self,
        filter: &ListFilter,
        accept: &dyn Fn(Option<&str>) -> bool,
    ) -> Result<Listing, Error> {
        let mut only = filter.only.clone();
        if filter.state == Some(ConversationState::Running) {
            let running = self.running()?.into_iter();
            only = Some(running.filter(|id| only.as_ref().is_none_or(|only| only.contains(id))).collect());
        }
        let stands = |id: ConversationId, state: ConversationState| match filter.state {
            None | Some(ConversationState::Running) => true,
            Some(wanted) => wanted == state && !self.is_running(id),
        };
        let mut project = project_of(filter.project.as_deref());
        if !filter.also.is_empty()
            && let Some(here) = project.take()
        {
            let ids = self.engine.store().list(Some(&here))?.into_iter().map(|listed| listed.id);
            let ids = ids.chain(filter.also.iter().copied());
            only = Some(ids.filter(|id| only.as_ref().is_none_or(|only| only.contains(id))).collect());
        }
        let mut index = self.index();
        let list = index.list(&ConversationFilter {
            project: project.as_deref(),
            agent: filter.agent.as_ref(),
            tags: &filter.tags,
            since: filter.since,
            only: only.as_ref(),
            accept: Some(&|id, summary| {
                let is_left_out = filter.without_tags.iter().any(|tag| summary.tags.contains(tag));
                !is_left_out && accept(summary.project.as_deref()) && stands(id, summary.state)
            }),
            behind: filter.behind,
            limit: filter.limit,
        })?;
        if let Some(agent) = filter.agent.as_ref().filter(|_| list.conversations.is_empty()) {
            known_agent(agent)?;
        }
        let listed = |listed| self.listed(listed, project.as_deref());
        Ok(Listing {
            conversations: list.conversations.into_iter().map(listed).collect(),
            more: list.more,
            warnings: index.warnings().to_vec(),
        })
    }

    /// One conversation, as a list shows it.
    pub fn listed_one(&self, id: ConversationId) -> Result<ListedConversation, Error> {
        let mut index = self.index();
        let entry = index.entry(id)?;
        if let Some(error) = index.take_error() {
            return Err(error.into());
        }
        let entry = entry.ok_or_else(|| Error::not_found(format!("there is no conversation {id}")))?;
        Ok(self.listed(entry, None))
    }

    fn listed(&self, listed: ConversationEntry, project: Option<&str>) -> ListedConversation {
        let ConversationEntry { id, used, summary } = listed;
        let used = used.duration_since(UNIX_EPOCH).unwrap_or_default();
        ListedConversation {
            id,
            title: one_line(&summary.title, TITLE_WIDTH),
            name: summary.name,
            project: summary.project,
            dir: summary.dir,
            git_branch: summary.git_branch,
            branch: summary.branch,
            branches: summary.branches,
            tags: summary.tags,
            agents: summary.agents,
            turns: summary.turns,
            messages: summary.messages,
            started_ms: summary.started,
            used_ms: used.as_millis().try_into().unwrap_or(u64::MAX),
            usage: summary.usage,
            cost: summary.cost,
            state: if self.is_running(id) { ConversationState::Running } else { summary.state },
            file: self.engine.store().files().ok().and_then(|files| files.file(id, project)),
        }
    }

    /// The labels in use, in the project a directory is in or in all.
    pub fn tags(&self, project: Option<PathBuf>) -> Result<BTreeSet<String>, Error> {
        let all = self.list(&ListFilter { project, ..ListFilter::default() })?;
        Ok(all.conversations.into_iter().flat_map(|listed| listed.tags).collect())
    }
}

pub(crate) fn project_of(dir: Option<&Path>) -> Option<String> {
    dir.map(|dir| rejoin_engine::project_of(dir).to_string_lossy().into_owned())
}
