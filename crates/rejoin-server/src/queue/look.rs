//! How runs and queues stand, as others are shown it.

use std::sync::Arc;

use rejoin::{Agent, ConversationId, Decision, TurnId};
use serde_json::Value;

use super::all_queues::{All, Queue, Slot};
use super::counts::Counts;
use super::entry::Asked;
use super::state::Phase;

/// A run as it stands.
#[derive(Clone, Debug)]
pub(crate) struct RunLook {
    /// Where it was asked for, or where its turn stands.
    pub(crate) conversation: ConversationId,
    pub(crate) asked: Arc<Asked>,
    pub(crate) phase: Phase,
    /// When its turn began, if it did.
    pub(crate) begun: Option<String>,
    /// How many are before it, counted from 1.
    pub(crate) position: Option<usize>,
    /// An agent of this daemon is at it.
    pub(crate) here: bool,
    pub(crate) plan: Option<Decision>,
    /// Who does it, or did, if it began.
    pub(crate) agent: Option<Agent>,
    pub(crate) asks: bool,
    /// The queue it waits in is paused.
    pub(crate) paused: bool,
}

impl RunLook {
    /// Why it was refused before it began, if it was.
    pub(crate) fn refusal(&self) -> Option<&Value> {
        match &self.phase {
            Phase::Ended { problem: Some(problem), .. } if self.begun.is_none() => Some(problem),
            _ => None,
        }
    }
}

/// The queue of a conversation as it stands.
#[derive(Clone, Debug)]
pub(crate) struct QueueLook {
    pub(crate) paused: Option<String>,
    pub(crate) waiting: Vec<TurnId>,
}

impl Queue {
    /// The conversation of a name that is yet to begin: others wait to begin it.
    pub(crate) fn awaited_name(&self, project: &str, name: &str) -> Option<ConversationId> {
        let all = self.all();
        let waits = |slot: &Slot| {
            slot.state
                .waiting()
                .iter()
                .filter_map(|run| slot.state.run(*run))
                .any(|run| run.asked.project == project && run.asked.name.as_deref() == Some(name))
        };
        all.conversations.iter().find(|(_, slot)| waits(slot)).map(|(id, _)| *id)
    }

    /// What waits first in a conversation, for another one that wants to join it before it began.
    pub(crate) fn first_waiting(&self, conversation: ConversationId) -> Option<Arc<Asked>> {
        let all = self.all();
        let state = &all.conversations.get(&conversation)?.state;
        Some(state.run(*state.waiting().first()?)?.asked.clone())
    }

    /// How a run stands.
    pub(crate) fn look(&self, run: TurnId) -> Option<RunLook> {
        let all = self.all();
        let conversation = *all.runs.get(&run)?;
        all.look(conversation, run)
    }

    /// The conversation in whose queue a run was put.
    pub(crate) fn home_of(&self, run: TurnId) -> Option<ConversationId> {
        self.all().runs.get(&run).copied()
    }

    /// All runs that are known, those of ephemeral turns excepted, in no order.
    pub(crate) fn look_at_all(&self) -> Vec<RunLook> {
        let all = self.all();
        all.runs.iter().filter_map(|(run, conversation)| all.look(*conversation, *run)).collect()
    }

    /// How the queue of a conversation stands.
    pub(crate) fn look_at_queue(&self, conversation: ConversationId) -> QueueLook {
        let all = self.all();
        let Some(slot) = all.conversations.get(&conversation) else {
            return QueueLook { paused: None, waiting: Vec::new() };
        };
        QueueLook { paused: slot.state.paused().map(str::to_owned), waiting: slot.state.waiting().to_vec() }
    }

    pub(crate) fn counts(&self) -> Counts {
        let all = self.all();
        Counts {
            running: all.at_work.values().filter(|run| run.here).count(),
            queued: all.conversations.values().map(|slot| slot.state.waiting().len()).sum(),
            started: all.started,
            ended: all.ended.clone(),
        }
    }

    /// Whether a run that waits should begin in a moment: nothing is before it.
    pub(crate) fn begins_now(&self, run: TurnId) -> bool {
        let all = self.all();
        let Some(slot) = all.runs.get(&run).and_then(|conversation| all.conversations.get(conversation))
        else {
            return false;
        };
        let free = slot.not_before.is_none() && slot.state.paused().is_none() && !all.stopping;
        match slot.at_work {
            Some(at_work) => at_work == run && free,
            None => free && slot.state.waiting().first() == Some(&run) && all.has_room(self.max_runs),
        }
    }
}

impl All {
    fn look(&self, conversation: ConversationId, run: TurnId) -> Option<RunLook> {
        let slot = self.conversations.get(&conversation)?;
        let known = slot.state.run(run)?;
        let at_work = self.at_work.get(&run);
        Some(RunLook {
            conversation: known.begun.as_ref().map_or(conversation, |(conversation, _)| *conversation),
            asked: Arc::clone(&known.asked),
            phase: known.phase.clone(),
            begun: known.begun.as_ref().map(|(_, time)| time.clone()),
            position: slot.state.position(run),
            here: at_work.is_some_and(|at_work| at_work.here),
            agent: at_work.and_then(|at_work| at_work.agent.clone()).or_else(|| known.agent.clone()),
            plan: at_work.and_then(|at_work| at_work.plan.clone()),
            asks: at_work.is_some_and(|at_work| at_work.open_questions > 0),
            paused: slot.state.paused().is_some(),
        })
    }
}
