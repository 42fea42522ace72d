//! Counting turns, tokens, cost, and what resuming saved.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use rejoin_core::{Agent, Calls, Usage};
use rejoin_index::{Bar, Group, Grouping};
use serde::{Deserialize, Serialize};

use crate::list::project_of;
use crate::{Error, Rejoin};

/// Which turns to count. By default all there are.
#[derive(Clone, Debug, Default)]
pub struct StatsFilter {
    /// Only of the project this directory is in.
    pub project: Option<PathBuf>,
    /// Only turns that began since then.
    pub since: Option<SystemTime>,
    /// What they are counted by, besides all together.
    pub by: Option<Grouping>,
    /// What those of each group are counted by, in turn: the agents of each day, say.
    pub then: Option<Grouping>,
}

/// What was counted, as `rejoin stats --json` prints it.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct Stats {
    /// All turns together.
    pub all: TurnCounts,
    /// By agent, model, project or day, in the order of their names; absent if that was not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<BTreeMap<String, GroupCounts>>,
    /// What could not be read.
    #[serde(skip)]
    pub warnings: Vec<String>,
}

/// Turns, counted.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct TurnCounts {
    /// Conversations they belong to.
    pub conversations: u64,
    /// All turns.
    pub turns: u64,
    /// Those that continued the agent's own session.
    pub resumed: u64,
    /// Those that began a new one, by reason.
    pub fresh: BTreeMap<String, u64>,
    /// Those that failed.
    pub failed: u64,
    /// Those that were stopped, or still run.
    pub cut: u64,
    /// Calls of tools in them.
    pub tool_calls: Calls,
    /// Their tokens.
    pub usage: Usage,
    /// Their cost in US dollars, where agents tell.
    pub cost: f64,
    /// How long they took, together.
    pub milliseconds: u64,
    /// Bytes sent to agents.
    pub bytes_sent: u64,
    /// Bytes that were not sent again because a session was resumed: for every resumed turn, what a fresh session
    /// would have been sent, less what was sent instead. With `bytes_sent` it is what replays alone would have sent.
    pub bytes_saved: u64,
}

/// Turns that have something in common, counted.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct GroupCounts {
    /// All of them.
    #[serde(flatten)]
    pub all: TurnCounts,
    /// By what their group is divided by, in the order of their names; absent if that was not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<BTreeMap<String, TurnCounts>>,
}

impl From<Bar> for TurnCounts {
    fn from(bar: Bar) -> Self {
        Self {
            conversations: bar.conversations,
            turns: bar.turns,
            resumed: bar.resumed,
            fresh: bar.fresh,
            failed: bar.failed,
            cut: bar.cut,
            tool_calls: bar.calls,
            usage: bar.usage,
            cost: bar.cost,
            milliseconds: bar.milliseconds,
            bytes_sent: bar.sent,
            bytes_saved: bar.saved,
        }
    }
}

impl Rejoin {
    /// Counts turns: how many were resumed or fresh and why, tokens, cost, bytes sent and saved.
    pub fn stats(&self, filter: &StatsFilter) -> Result<Stats, Error> {
        let project = project_of(filter.project.as_deref());
        let since = filter.since.map(|since| {
            since.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis().try_into().unwrap_or(i64::MAX)
        });
        let budget = |agent: Option<&Agent>| {
            let usual = rejoin_engine::AgentSetup::default().replay_budget;
            agent.map_or(usual, |agent| self.setup(agent).replay_budget)
        };
        let mut index = self.index();
        let counted = index.stats(&rejoin_index::StatsFilter {
            project: project.as_deref(),
            since,
            by: filter.by,
            then: filter.then,
            budget: &budget,
        })?;
        let group = |group: Group| {
            let inner = group.by.into_iter().map(|(name, bar)| (name, bar.into()));
            GroupCounts { all: group.all.into(), by: filter.then.map(|_| inner.collect()) }
        };
        let groups = || counted.by.into_iter().map(|(name, counted)| (name, group(counted))).collect();
        Ok(Stats {
            all: counted.all.into(),
            by: filter.by.map(|_| groups()),
            warnings: index.warnings().to_vec(),
        })
    }
}
