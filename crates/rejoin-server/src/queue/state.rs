//! How the queue of a conversation stands, folded from its lines. Pure: whatever lines there are, they make a state.

use std::collections::{HashMap, hash_map};
use std::sync::Arc;

use rejoin::{Agent, ConversationId, TurnId};
use serde_json::Value;

use super::entry::{Asked, Entry, RunEnd};

/// So much of the prompt of a turn that stands in a journal is kept here, for lists.
const SHOWN: usize = 200;

/// The queue of one conversation.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct QueueState {
    runs: HashMap<TurnId, Run>,
    /// Those that wait, the next one first.
    waiting: Vec<TurnId>,
    /// Why nothing begins.
    paused: Option<String>,
}

/// A run, as far as it came.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Run {
    pub(crate) asked: Arc<Asked>,
    pub(crate) phase: Phase,
    /// Where its turn stands, and since when.
    pub(crate) begun: Option<(ConversationId, String)>,
    /// Who did it, once it is over.
    pub(crate) agent: Option<Agent>,
}

/// How far it came.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Phase {
    Waiting,
    Begun,
    Ended { status: RunEnd, problem: Option<Value>, time: String },
}

impl QueueState {
    /// Takes in the next line. One that does not fit what was before changes nothing.
    pub(crate) fn apply(&mut self, entry: Entry) {
        match entry {
            Entry::Queued(asked) => {
                let run = asked.run();
                if let hash_map::Entry::Vacant(place) = self.runs.entry(run) {
                    place.insert(Run {
                        asked: Arc::from(asked),
                        phase: Phase::Waiting,
                        begun: None,
                        agent: None,
                    });
                    self.waiting.push(run);
                }
            }
            Entry::Edited { run, prompt } => {
                if let Some(run) = self.runs.get_mut(&run).filter(|run| run.phase == Phase::Waiting) {
                    Arc::make_mut(&mut run.asked).request.prompt = prompt;
                }
            }
            Entry::Ordered { order } => self.reorder(&order),
            Entry::Begun { run, conversation, time } => {
                if let Some(known) = self.runs.get_mut(&run).filter(|run| run.phase == Phase::Waiting) {
                    known.phase = Phase::Begun;
                    known.begun = Some((conversation, time));
                    // The journal has it whole from here on.
                    let prompt = &mut Arc::make_mut(&mut known.asked).request.prompt;
                    prompt.truncate(prompt.floor_char_boundary(SHOWN));
                    self.waiting.retain(|waiting| *waiting != run);
                }
            }
            Entry::Ended { run, status, problem, agent, time } => {
                let known = self.runs.get_mut(&run);
                if let Some(known) = known.filter(|run| !matches!(run.phase, Phase::Ended { .. })) {
                    known.phase = Phase::Ended { status, problem, time };
                    known.agent = agent;
                    self.waiting.retain(|waiting| *waiting != run);
                }
            }
            Entry::Paused { why } => self.paused = Some(why),
            Entry::Resumed => self.paused = None,
            Entry::Unknown => {}
        }
    }

    /// Those that are named come first, in that order; the others keep theirs behind them.
    fn reorder(&mut self, order: &[TurnId]) {
        let mut first: Vec<TurnId> = Vec::with_capacity(self.waiting.len());
        for run in order {
            if self.waiting.contains(run) && !first.contains(run) {
                first.push(*run);
            }
        }
        self.waiting.retain(|run| !first.contains(run));
        first.append(&mut self.waiting);
        self.waiting = first;
    }

    pub(crate) fn run(&self, run: TurnId) -> Option<&Run> {
        self.runs.get(&run)
    }

    /// All that are remembered, in no order.
    pub(crate) fn runs(&self) -> impl Iterator<Item = (TurnId, &Run)> {
        self.runs.iter().map(|(id, run)| (*id, run))
    }

    /// Those that wait, the next one first.
    pub(crate) fn waiting(&self) -> &[TurnId] {
        &self.waiting
    }

    /// How many come before it, counted from 1.
    pub(crate) fn position(&self, run: TurnId) -> Option<usize> {
        self.waiting.iter().position(|waiting| *waiting == run).map(|at| at + 1)
    }

    /// Why nothing begins, if so.
    pub(crate) fn paused(&self) -> Option<&str> {
        self.paused.as_deref()
    }

    /// Forgets runs that ended before a time.
    pub(crate) fn forget_before(&mut self, limit: &str) {
        self.runs.retain(|_, run| !matches!(&run.phase, Phase::Ended { time, .. } if time.as_str() < limit));
    }

    /// Forgets a run that was refused before it began. Whether it was one.
    pub(crate) fn forget_refused(&mut self, run: TurnId) -> bool {
        let refused = |known: &Run| {
            known.begun.is_none() && matches!(known.phase, Phase::Ended { problem: Some(_), .. })
        };
        self.runs.get(&run).is_some_and(refused) && self.runs.remove(&run).is_some()
    }

    /// Nothing would be lost without it.
    pub(crate) fn is_empty(&self) -> bool {
        self.runs.is_empty() && self.paused.is_none()
    }

    /// The fewest lines that make this state.
    pub(crate) fn entries(&self) -> Vec<Entry> {
        let mut entries = Vec::new();
        let mut past: Vec<&Run> = self.runs.values().filter(|run| run.phase != Phase::Waiting).collect();
        past.sort_by(|a, b| a.asked.time.cmp(&b.asked.time).then(a.asked.run().cmp(&b.asked.run())));
        for run in past {
            let id = run.asked.run();
            entries.push(Entry::Queued(Box::new((*run.asked).clone())));
            if let Some((conversation, time)) = run.begun.clone() {
                entries.push(Entry::Begun { run: id, conversation, time });
            }
            if let Phase::Ended { status, problem, time } = run.phase.clone() {
                entries.push(Entry::Ended { run: id, status, problem, agent: run.agent.clone(), time });
            }
        }
        let waiting = self.waiting.iter().filter_map(|run| self.runs.get(run));
        entries.extend(waiting.map(|run| Entry::Queued(Box::new((*run.asked).clone()))));
        entries.extend(self.paused.clone().map(|why| Entry::Paused { why }));
        entries
    }
}

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;
