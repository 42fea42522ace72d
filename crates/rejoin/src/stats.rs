//! Counting turns, tokens, cost, and what resuming saved.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use rejoin_core::Agent;
use rejoin_index::{Grouping, Stats};

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
}

/// What was counted.
#[derive(Clone, Debug)]
pub struct Counted {
    /// The numbers.
    pub stats: Stats,
    /// What could not be read.
    pub warnings: Vec<String>,
}

impl Rejoin {
    /// Counts turns: how many were resumed or fresh and why, tokens, cost, bytes sent and saved.
    pub fn stats(&self, filter: &StatsFilter) -> Result<Counted, Error> {
        let project = project_of(filter.project.as_deref());
        let since = filter.since.map(|since| {
            since.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis().try_into().unwrap_or(i64::MAX)
        });
        let budget = |agent: Option<&Agent>| {
            let usual = rejoin_engine::AgentSetup::default().replay_budget;
            agent.map_or(usual, |agent| self.setup(agent).replay_budget)
        };
        let mut index = self.index();
        let stats = index.stats(&rejoin_index::StatsFilter {
            project: project.as_deref(),
            since,
            by: filter.by,
            budget: &budget,
        })?;
        Ok(Counted { stats, warnings: index.warnings().to_vec() })
    }
}
