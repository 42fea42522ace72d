//! Counting turns, tokens, cost, and what resuming saved.

use std::collections::{BTreeMap, BTreeSet};

use rejoin_core::{Agent, Calls, Usage};
use rejoin_journal::JournalError;
use serde::Serialize;

use crate::facts::{Planned, Summary, TurnEnd, TurnFacts};
use crate::index::Index;

/// What turns are counted by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Grouping {
    /// By agent.
    Agent,
    /// By model.
    Model,
    /// By project.
    Project,
    /// By day (UTC).
    Day,
}

/// Which turns are counted.
#[derive(Clone, Copy)]
pub struct StatsFilter<'a> {
    /// Only of this project.
    pub project: Option<&'a str>,
    /// Only turns that began since then, in milliseconds since 1970.
    pub since: Option<i64>,
    /// What they are counted by, besides all together.
    pub by: Option<Grouping>,
    /// What those of each group are counted by, in turn.
    pub then: Option<Grouping>,
    /// How many bytes of history a replay to an agent may take.
    pub budget: &'a dyn Fn(Option<&Agent>) -> usize,
}

/// Turns, counted.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Bar {
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
    pub calls: Calls,
    /// Their tokens.
    pub usage: Usage,
    /// Their cost in US dollars, where agents tell.
    pub cost: f64,
    /// How long they took, together.
    pub milliseconds: u64,
    /// Bytes sent to agents.
    pub sent: u64,
    /// Bytes that were not sent again because a session was resumed: for every resumed turn, what a fresh session
    /// would have been sent (its receipt tells; of older ones the history its agent should know, as far as it fits
    /// into the budget of a replay), less what was sent instead.
    pub saved: u64,
}

/// Turns that have something in common, counted.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Group {
    /// All of them.
    pub all: Bar,
    /// By [`StatsFilter::then`], in the order of their names.
    pub by: BTreeMap<String, Bar>,
}

/// What was counted.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Stats {
    /// All turns together.
    pub all: Bar,
    /// By agent, model, project or day, in the order of their names.
    pub by: BTreeMap<String, Group>,
}

impl Index<'_> {
    /// Counts turns.
    pub fn stats(&mut self, filter: &StatsFilter<'_>) -> Result<Stats, JournalError> {
        let standings = self.store.look(filter.project)?;
        let fresh = self.refresh(&standings, false);
        let mut stats = Stats::default();
        for fresh in &fresh {
            let Some(facts) = self.facts(fresh) else { continue };
            let its = facts.summary.project.as_deref();
            if filter.project.is_none() || its.is_none() || its == filter.project {
                stats.count(&facts.summary, &facts.turns, filter);
            }
        }
        Ok(stats)
    }
}

impl Stats {
    fn count(&mut self, summary: &Summary, turns: &[TurnFacts], filter: &StatsFilter<'_>) {
        // A conversation counts once in each group it has a turn in.
        let mut counted: BTreeSet<(Option<String>, Option<String>)> = BTreeSet::new();
        let mut is_new = |group: Option<&String>, inner: Option<&String>| {
            u64::from(counted.insert((group.cloned(), inner.cloned())))
        };
        for turn in turns {
            let recent = filter.since.is_none_or(|since| turn.started.is_some_and(|at| at >= since));
            if !recent {
                continue;
            }
            self.all.add(turn, filter);
            self.all.conversations += is_new(None, None);
            let Some(name) = filter.by.map(|by| name_of(by, summary, turn)) else { continue };
            let group = self.by.entry(name.clone()).or_default();
            group.all.add(turn, filter);
            group.all.conversations += is_new(Some(&name), None);
            if let Some(inner) = filter.then.map(|then| name_of(then, summary, turn)) {
                let bar = group.by.entry(inner.clone()).or_default();
                bar.add(turn, filter);
                bar.conversations += is_new(Some(&name), Some(&inner));
            }
        }
    }
}

impl Bar {
    fn add(&mut self, turn: &TurnFacts, filter: &StatsFilter<'_>) {
        self.turns += 1;
        match &turn.plan {
            Some(Planned::Resumed) => {
                self.resumed += 1;
                let by_history = || turn.history.min((filter.budget)(turn.agent.as_ref()));
                let replay = turn.replay.unwrap_or_else(by_history);
                self.saved += replay.saturating_sub(turn.sent) as u64;
            }
            Some(Planned::Fresh(reason)) => *self.fresh.entry(reason.clone()).or_default() += 1,
            None => {}
        }
        match turn.state {
            TurnEnd::Completed => {}
            TurnEnd::Failed => self.failed += 1,
            TurnEnd::Cut => self.cut += 1,
        }
        self.calls += turn.calls;
        self.usage += turn.usage;
        self.cost += turn.cost.unwrap_or(0.0);
        self.milliseconds += turn.milliseconds;
        self.sent += turn.sent as u64;
    }
}

fn name_of(by: Grouping, summary: &Summary, turn: &TurnFacts) -> String {
    let name = match by {
        Grouping::Agent => turn.agent.as_ref().map(|agent| agent.as_str().to_owned()),
        Grouping::Model => turn.model.clone(),
        Grouping::Project => summary.project.clone(),
        Grouping::Day => turn
            .started
            .and_then(|at| jiff::Timestamp::from_millisecond(at).ok())
            .map(|at| at.strftime("%Y-%m-%d").to_string()),
    };
    name.unwrap_or_else(|| "unknown".to_owned())
}
