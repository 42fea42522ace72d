//! Runs somebody is at: chosen, begun, cancelled, over.

use std::time::{Duration, Instant};

use rejoin::{Agent, Canceller, ConversationId, Decision, Event, TurnId};

use super::all_queues::{All, Queue};
use super::entry::RunEnd;
use super::schedule::{Candidate, next};

/// Between two turns of a queue: a terminal that waits for the conversation asks every tenth of a second.
const GAP: Duration = Duration::from_millis(150);

/// How long to leave a conversation alone that is in use elsewhere; doubled each time.
const FIRST_HOLD: Duration = Duration::from_millis(50);
const LONGEST_HOLD: Duration = Duration::from_millis(800);

/// A run somebody is at.
#[derive(Default)]
pub(super) struct AtWork {
    pub(super) project: String,
    /// It is ours; else it is left from a daemon before us.
    pub(super) here: bool,
    pub(super) canceller: Option<Canceller>,
    pub(super) cancelled: bool,
    pub(super) plan: Option<Decision>,
    pub(super) agent: Option<Agent>,
    pub(super) open_questions: usize,
}

impl Queue {
    /// Chooses what begins now, and says when it is worth looking again.
    pub(super) fn pick(&self, now: Instant) -> (Vec<Candidate>, Option<Instant>) {
        let mut all = self.all();
        if all.stopping {
            return (Vec::new(), None);
        }
        let (mut candidates, mut again) = (Vec::new(), None::<Instant>);
        for (conversation, slot) in &mut all.conversations {
            let Some(run) = slot.state.waiting().first().copied() else { continue };
            if slot.at_work.is_some() || slot.state.paused().is_some() {
                continue;
            }
            if let Some(time) = slot.not_before.filter(|time| *time > now) {
                again = Some(again.map_or(time, |again| again.min(time)));
                continue;
            }
            slot.not_before = None;
            let Some(known) = slot.state.run(run) else { continue };
            let (project, time) = (known.asked.project.clone(), known.asked.time.clone());
            candidates.push(Candidate { conversation: *conversation, project, run, time });
        }
        candidates.extend(all.flow_turns.candidates());
        let runs = all.at_work.values().filter(|run| run.here).map(|run| &run.project);
        let running: Vec<String> = runs.chain(all.flow_turns.running()).cloned().collect();
        let mut chosen = next(candidates, &running, self.max_runs, &mut all.served);
        // A flow begins its turns itself.
        chosen.retain(|candidate| !all.flow_turns.begin(candidate.run));
        for candidate in &chosen {
            let project = candidate.project.clone();
            all.at_work.insert(candidate.run, AtWork { project, here: true, ..AtWork::default() });
            if let Some(slot) = all.conversations.get_mut(&candidate.conversation) {
                slot.at_work = Some(candidate.run);
            }
        }
        (chosen, again)
    }

    /// It did not begin: the conversation is in use elsewhere, so it waits on. Not if it was cancelled meanwhile: then
    /// this says so, and whoever is at it ends it.
    pub(super) fn hold(&self, conversation: ConversationId, run: TurnId) -> bool {
        let mut all = self.all();
        if all.at_work.get(&run).is_some_and(|at_work| at_work.cancelled) {
            return false;
        }
        all.at_work.remove(&run);
        if let Some(slot) = all.conversations.get_mut(&conversation) {
            slot.at_work = None;
            slot.held = (slot.held + 1).min(8);
            slot.not_before =
                Some(Instant::now() + (FIRST_HOLD * 2_u32.pow(slot.held - 1)).min(LONGEST_HOLD));
        }
        drop(all);
        self.changed();
        self.kick.notify_one();
        true
    }

    /// It began, and can be cancelled.
    pub(super) fn started(&self, run: TurnId, canceller: Canceller) {
        let mut all = self.all();
        all.started += 1;
        if let Some(at_work) = all.at_work.get_mut(&run) {
            if at_work.cancelled {
                canceller.cancel();
            }
            at_work.canceller = Some(canceller);
        }
        if let Some(conversation) = all.runs.get(&run).copied()
            && let Some(slot) = all.conversations.get_mut(&conversation)
        {
            slot.held = 0;
        }
    }

    /// Something happened in its turn.
    pub(super) fn see(&self, run: TurnId, event: &Event) {
        let counts = matches!(
            event,
            Event::Init { .. }
                | Event::Question(_)
                | Event::QuestionAnswered(_)
                | Event::QuestionWithdrawn { .. }
        );
        // Most events are pieces of text, for which nobody need be kept waiting.
        if !counts {
            return;
        }
        let mut all = self.all();
        let Some(at_work) = all.at_work.get_mut(&run) else { return };
        match event {
            Event::Init { plan, agent, .. } => {
                (at_work.plan, at_work.agent) = (Some(plan.clone()), Some(agent.clone()));
            }
            Event::Question(_) => at_work.open_questions += 1,
            Event::QuestionAnswered(_) | Event::QuestionWithdrawn { .. } => {
                at_work.open_questions = at_work.open_questions.saturating_sub(1);
            }
            _ => {}
        }
        drop(all);
        self.changed();
    }

    /// Who does it, where no event tells.
    pub(super) fn done_by(&self, run: TurnId, agent: Option<Agent>) {
        if let Some(at_work) = self.all().at_work.get_mut(&run) {
            at_work.agent = agent;
        }
    }

    /// It is over.
    pub(super) fn ended(&self, run: TurnId, status: RunEnd) {
        let mut all = self.all();
        all.at_work.remove(&run);
        *all.ended.entry(status).or_default() += 1;
        if let Some(conversation) = all.runs.get(&run).copied()
            && let Some(slot) = all.conversations.get_mut(&conversation)
            && slot.at_work == Some(run)
        {
            slot.at_work = None;
            slot.not_before = (!slot.state.waiting().is_empty()).then(|| Instant::now() + GAP);
        }
        drop(all);
        self.changed();
        self.kick.notify_one();
    }

    /// Asks a run that is being started or runs here to stop; again only with `force`, which ends everything at once.
    /// Whether there was one.
    pub(crate) fn cancel_here(&self, run: TurnId, force: bool) -> bool {
        let mut all = self.all();
        let Some(at_work) = all.at_work.get_mut(&run).filter(|at_work| at_work.here) else { return false };
        if force || !at_work.cancelled {
            at_work.cancelled = true;
            if let Some(canceller) = &at_work.canceller {
                canceller.cancel();
            }
        }
        true
    }

    /// Lets nothing begin any more; what runs is stopped after `limit`, and its end is waited for.
    pub(crate) async fn drain(&self, limit: Option<Duration>) {
        let mut changes = self.changes();
        self.all().stopping = true;
        let over = async {
            while self.all().at_work.values().any(|run| run.here) {
                if changes.changed().await.is_err() {
                    return;
                }
            }
        };
        tokio::pin!(over);
        if let Some(limit) = limit
            && tokio::time::timeout(limit, over.as_mut()).await.is_ok()
        {
            return;
        }
        let running: Vec<TurnId> = self.all().at_work.keys().copied().collect();
        for run in running {
            self.cancel_here(run, false);
        }
        over.await;
    }
}

impl All {
    pub(super) fn has_room(&self, max_runs: usize) -> bool {
        self.at_work.values().filter(|run| run.here).count() + self.flow_turns.running().len() < max_runs
    }
}
