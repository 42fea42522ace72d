//! The queues of all conversations, as the daemon has them in its memory, and every change of them.
//!
//! Whoever changes the queue of a conversation holds its turnstile from looking to writing; the lock on everything is held
//! only to look and to take in what was written, never while the disk is waited for.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rejoin::{Canceller, ConversationId, Decision, Event, Rejoin, TurnId};
use serde_json::Value;
use tokio::sync::{Notify, watch};

use super::counts::Counts;
use super::entry::{Asked, Entry, RunEnd};
use super::ephemeral::Ephemeral;
use super::log;
use super::schedule::{Candidate, Served, next};
use super::state::{Phase, QueueState, Run};
use crate::problem::{Code, Problem};

/// So many may wait in one conversation.
const LONGEST_QUEUE: usize = 100;

/// Between two turns of a queue: a terminal that waits for the conversation asks every tenth of a second.
const GAP: Duration = Duration::from_millis(150);

/// How long to leave a conversation alone that is in use elsewhere; doubled each time.
const FIRST_HOLD: Duration = Duration::from_millis(50);
const LONGEST_HOLD: Duration = Duration::from_millis(800);

/// Runs that wait, and those that run.
pub(crate) struct Queue {
    max_runs: usize,
    /// Held while it is found out which conversation a name means, until a run waits there: two for one new name go
    /// into one conversation.
    pub(crate) naming: Mutex<()>,
    all: Mutex<All>,
    /// Counts changes of what [`RunLook`] tells.
    changes: watch::Sender<u64>,
    /// Something may begin.
    pub(super) kick: Notify,
    /// What was there before the daemon began is known.
    ready: watch::Sender<bool>,
}

/// Everything there is.
#[derive(Default)]
struct All {
    conversations: HashMap<ConversationId, Slot>,
    /// Where each run is, also of those that are just being written.
    runs: HashMap<TurnId, ConversationId>,
    at_work: HashMap<TurnId, AtWork>,
    ephemeral: HashMap<TurnId, Ephemeral>,
    served: Served,
    stopping: bool,
    started: u64,
    ended: std::collections::BTreeMap<RunEnd, u64>,
}

/// The queue of one conversation.
#[derive(Default)]
struct Slot {
    turnstile: Arc<Mutex<()>>,
    state: QueueState,
    /// How many lines its log has.
    lines: usize,
    /// The run that is being started, runs, or is looked after.
    at_work: Option<TurnId>,
    not_before: Option<Instant>,
    held: u32,
}

/// A run somebody is at.
#[derive(Default)]
pub(super) struct AtWork {
    pub(super) project: String,
    /// It is ours; else it is left from a daemon before us.
    pub(super) here: bool,
    canceller: Option<Canceller>,
    cancelled: bool,
    plan: Option<Decision>,
    open_questions: usize,
}

/// A run as it stands.
#[derive(Clone, Debug)]
pub(crate) struct RunLook {
    /// Where it was asked for, or where its turn stands.
    pub(crate) conversation: ConversationId,
    pub(crate) asked: Asked,
    pub(crate) phase: Phase,
    /// When its turn began, if it did.
    pub(crate) begun: Option<String>,
    /// How many are before it, counted from 1.
    pub(crate) position: Option<usize>,
    /// An agent of this daemon is at it.
    pub(crate) here: bool,
    pub(crate) plan: Option<Decision>,
    pub(crate) asks: bool,
    /// The queue it waits in is paused.
    pub(crate) paused: bool,
}

/// The queue of a conversation as it stands.
#[derive(Clone, Debug)]
pub(crate) struct QueueLook {
    pub(crate) paused: Option<String>,
    pub(crate) waiting: Vec<TurnId>,
}

/// What came of asking for a run.
pub(crate) enum Submitted {
    /// It was taken.
    New,
    /// It was taken before.
    Before,
}

/// What a change of a queue is decided on.
pub(crate) struct Standing<'a> {
    pub(crate) state: &'a QueueState,
    pub(crate) at_work: Option<TurnId>,
}

impl Standing<'_> {
    /// A run that waits and that nobody is at.
    pub(crate) fn idle(&self, run: TurnId) -> Result<&Run, Problem> {
        match self.state.run(run) {
            Some(known) if known.phase == Phase::Waiting && self.at_work != Some(run) => Ok(known),
            Some(_) => {
                Err(Problem::new(Code::Conflict, format!("run {run} has begun, it does not wait any more")))
            }
            None => Err(Problem::not_found(format!("no run {run} waits in this conversation"))),
        }
    }
}

impl Queue {
    /// At most so many run at once.
    pub(crate) fn new(max_runs: usize) -> Self {
        Self {
            max_runs,
            naming: Mutex::default(),
            all: Mutex::default(),
            changes: watch::Sender::new(0),
            kick: Notify::new(),
            ready: watch::Sender::new(false),
        }
    }

    fn all(&self) -> MutexGuard<'_, All> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn changed(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    /// To wait for changes.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Waits until it is known what was asked for before the daemon began.
    pub(crate) async fn is_ready(&self) {
        // It is never dropped while somebody waits.
        let _ = self.ready.subscribe().wait_for(|ready| *ready).await;
    }

    /// Everything from before is known now: what was begun and is not over.
    pub(super) fn recovered(
        &self,
        found: Vec<(ConversationId, QueueState, usize)>,
    ) -> Vec<(ConversationId, TurnId)> {
        let mut all = self.all();
        let mut begun = Vec::new();
        for (conversation, state, lines) in found {
            for (run, known) in state.runs() {
                all.runs.insert(run, conversation);
                if known.phase == Phase::Begun {
                    begun.push((conversation, run));
                    let project = known.asked.project.clone();
                    all.at_work.insert(run, AtWork { project, ..AtWork::default() });
                }
            }
            let at_work = begun.iter().rev().find(|(of, _)| *of == conversation).map(|(_, run)| *run);
            all.conversations.insert(conversation, Slot { state, lines, at_work, ..Slot::default() });
        }
        drop(all);
        self.ready.send_replace(true);
        begun
    }

    fn turnstile(&self, conversation: ConversationId) -> Arc<Mutex<()>> {
        Arc::clone(&self.all().conversations.entry(conversation).or_default().turnstile)
    }

    /// Changes the queue of a conversation: what `decide` makes of it is on the disk when this returns.
    pub(crate) fn change<T>(
        &self,
        rejoin: &Rejoin,
        conversation: ConversationId,
        decide: impl FnOnce(&Standing<'_>) -> Result<(Vec<Entry>, T), Problem>,
    ) -> Result<T, Problem> {
        let turnstile = self.turnstile(conversation);
        let _turn = turnstile.lock().unwrap_or_else(PoisonError::into_inner);
        let (entries, result) = {
            let all = self.all();
            let Some(slot) = all.conversations.get(&conversation) else {
                return Err(Problem::not_found(format!("conversation {conversation} was removed")));
            };
            decide(&Standing { state: &slot.state, at_work: slot.at_work })?
        };
        if !entries.is_empty() {
            log::append(rejoin, conversation, &entries, true)?;
            self.take_in(conversation, entries);
        }
        Ok(result)
    }

    /// Notes what happened, which nothing can undo. Should the disk refuse, the journal tells it after a restart.
    pub(super) fn note(&self, rejoin: &Rejoin, conversation: ConversationId, entry: Entry) {
        let turnstile = self.turnstile(conversation);
        let _turn = turnstile.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = log::append(rejoin, conversation, std::slice::from_ref(&entry), false) {
            tracing::error!(%conversation, %error, "the queue could not be written");
        }
        let ended = matches!(entry, Entry::Ended { .. });
        self.take_in(conversation, vec![entry]);
        if ended {
            self.compact(rejoin, conversation);
        }
    }

    fn take_in(&self, conversation: ConversationId, entries: Vec<Entry>) {
        let mut all = self.all();
        if let Some(slot) = all.conversations.get_mut(&conversation) {
            slot.lines += entries.len();
            entries.into_iter().for_each(|entry| slot.state.apply(entry));
        }
        drop(all);
        self.changed();
        self.kick.notify_one();
    }

    /// To be called at the turnstile.
    fn compact(&self, rejoin: &Rejoin, conversation: ConversationId) {
        let stands = self.all().conversations.get(&conversation).map(|slot| (slot.state.clone(), slot.lines));
        let Some((state, lines)) = stands else { return };
        match log::compact(rejoin, conversation, &state, lines) {
            Ok(lines) => {
                if let Some(slot) = self.all().conversations.get_mut(&conversation) {
                    slot.lines = lines;
                }
            }
            Err(error) => tracing::warn!(%conversation, %error, "the log of a queue could not be shortened"),
        }
    }

    /// Forgets runs that ended before a time.
    pub(super) fn forget_before(&self, rejoin: &Rejoin, limit: &str) {
        let all: Vec<ConversationId> = self.all().conversations.keys().copied().collect();
        for conversation in all {
            let turnstile = self.turnstile(conversation);
            let _turn = turnstile.lock().unwrap_or_else(PoisonError::into_inner);
            let mut all = self.all();
            let All { conversations, runs, .. } = &mut *all;
            let Some(slot) = conversations.get_mut(&conversation) else { continue };
            let before = slot.state.runs().count();
            slot.state.forget_before(limit);
            if slot.state.runs().count() == before {
                continue;
            }
            runs.retain(|run, of| *of != conversation || slot.state.run(*run).is_some());
            // Enough to be written anew, if there is anything left.
            slot.lines = usize::MAX;
            drop(all);
            self.compact(rejoin, conversation);
        }
    }

    /// Asks for a run in a conversation. On the disk when this returns.
    pub(crate) fn submit(
        &self,
        rejoin: &Rejoin,
        conversation: ConversationId,
        asked: Asked,
    ) -> Result<Submitted, Problem> {
        let run = asked.run();
        loop {
            let before = {
                let mut all = self.all();
                if all.stopping {
                    return Err(Problem::new(Code::Stopping, "the daemon is about to end and takes nothing new")
                        .hint("send it again when the daemon is back; with an Idempotency-Key that is safe in any case"));
                }
                let before = all.runs.get(&run).copied();
                if before.is_none() {
                    all.runs.insert(run, conversation);
                }
                before
            };
            let Some(before) = before else { break };
            // Somebody else may just be writing it.
            let known = self.change(rejoin, before, |standing| {
                Ok((Vec::new(), standing.state.run(run).map(|known| known.asked.clone())))
            })?;
            match known {
                Some(known) if known.digest == asked.digest && known.token == asked.token => {
                    return Ok(Submitted::Before);
                }
                Some(_) => return Err(key_reused(run, before)),
                // He failed, and the place is free again, or about to be.
                None => std::thread::yield_now(),
            }
        }
        let submitted = self.change(rejoin, conversation, |standing| {
            if standing.state.waiting().len() >= LONGEST_QUEUE {
                return Err(Problem::new(
                    Code::TooMany,
                    format!("{LONGEST_QUEUE} prompts wait in this conversation already"),
                )
                .hint("wait for some of them, or take some out of its queue")
                .retry_after(5));
            }
            Ok((vec![Entry::Queued(Box::new(asked))], Submitted::New))
        });
        if submitted.is_err() {
            self.all().runs.remove(&run);
        }
        submitted
    }

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
    pub(crate) fn first_waiting(&self, conversation: ConversationId) -> Option<Asked> {
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

    /// Whether anything waits or runs in a conversation: then it must not be removed.
    pub(crate) fn is_idle(&self, conversation: ConversationId) -> bool {
        let all = self.all();
        all.conversations
            .get(&conversation)
            .is_none_or(|slot| slot.at_work.is_none() && slot.state.waiting().is_empty())
    }

    /// Forgets everything about a conversation that was removed.
    pub(crate) fn forget(&self, rejoin: &Rejoin, conversation: ConversationId) -> Result<(), Problem> {
        let turnstile = self.turnstile(conversation);
        let _turn = turnstile.lock().unwrap_or_else(PoisonError::into_inner);
        log::compact(rejoin, conversation, &QueueState::default(), 0)?;
        let mut all = self.all();
        all.conversations.remove(&conversation);
        all.runs.retain(|_, of| *of != conversation);
        Ok(())
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
        let running: Vec<String> =
            all.at_work.values().filter(|run| run.here).map(|run| run.project.clone()).collect();
        let chosen = next(candidates, &running, self.max_runs, &mut all.served);
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
        let mut all = self.all();
        let Some(at_work) = all.at_work.get_mut(&run) else { return };
        match event {
            Event::Init { plan, .. } => at_work.plan = Some(plan.clone()),
            Event::Question(_) => at_work.open_questions += 1,
            Event::QuestionAnswered(_) | Event::QuestionWithdrawn { .. } => {
                at_work.open_questions = at_work.open_questions.saturating_sub(1);
            }
            _ => return,
        }
        drop(all);
        self.changed();
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

/// Ephemeral turns: they take a place among those that run, and nothing else.
impl Queue {
    /// Takes a place, if one is free.
    pub(crate) fn enter_ephemeral(&self, run: TurnId, ephemeral: Ephemeral) -> Result<(), Problem> {
        let mut all = self.all();
        if all.stopping {
            return Err(Problem::new(Code::Stopping, "the daemon is about to end and takes nothing new"));
        }
        if !all.has_room(self.max_runs) {
            return Err(Problem::new(
                Code::TooMany,
                format!("{} runs are on their way, and an ephemeral one cannot wait", self.max_runs),
            )
            .hint("send it again later, or let it be kept: then it waits for its turn")
            .retry_after(5));
        }
        all.ephemeral.retain(|_, known| !known.is_stale());
        if all.ephemeral.contains_key(&run) || all.runs.contains_key(&run) {
            return Err(Problem::new(Code::Conflict, format!("there is a run {run} already")));
        }
        let project = ephemeral.project.clone();
        all.at_work.insert(run, AtWork { project, here: true, ..AtWork::default() });
        all.ephemeral.insert(run, ephemeral);
        Ok(())
    }

    /// It was refused: there is no such run.
    pub(crate) fn leave_ephemeral(&self, run: TurnId) {
        let mut all = self.all();
        all.at_work.remove(&run);
        all.ephemeral.remove(&run);
        drop(all);
        self.changed();
        self.kick.notify_one();
    }

    /// Notes how it ended.
    pub(super) fn change_ephemeral(&self, run: TurnId, change: impl FnOnce(&mut Ephemeral)) {
        if let Some(known) = self.all().ephemeral.get_mut(&run) {
            change(known);
        }
    }

    /// How one stands, and whether it asks something.
    pub(crate) fn look_at_ephemeral(&self, run: TurnId) -> Option<(Ephemeral, bool)> {
        let all = self.all();
        let asks = all.at_work.get(&run).is_some_and(|at_work| at_work.open_questions > 0);
        Some((all.ephemeral.get(&run)?.clone(), asks))
    }
}

impl All {
    fn has_room(&self, max_runs: usize) -> bool {
        self.at_work.values().filter(|run| run.here).count() < max_runs
    }

    fn look(&self, conversation: ConversationId, run: TurnId) -> Option<RunLook> {
        let slot = self.conversations.get(&conversation)?;
        let known = slot.state.run(run)?;
        let at_work = self.at_work.get(&run);
        Some(RunLook {
            conversation: known.begun.as_ref().map_or(conversation, |(conversation, _)| *conversation),
            asked: known.asked.clone(),
            phase: known.phase.clone(),
            begun: known.begun.as_ref().map(|(_, time)| time.clone()),
            position: slot.state.position(run),
            here: at_work.is_some_and(|at_work| at_work.here),
            plan: at_work.and_then(|at_work| at_work.plan.clone()),
            asks: at_work.is_some_and(|at_work| at_work.open_questions > 0),
            paused: slot.state.paused().is_some(),
        })
    }
}

/// The key, or the id, is another request's.
pub(crate) fn key_reused(run: TurnId, conversation: ConversationId) -> Problem {
    Problem::new(Code::KeyReused, format!("run {run} was asked for already, with another body"))
        .hint("give each request a key, or an id, of its own")
        .with("run", run)
        .with("conversation", conversation)
}

/// Why a run never began, as it is kept.
pub(super) fn kept(problem: &Problem) -> Option<Value> {
    serde_json::to_value(problem.body()).ok()
}
