//! The queues of all conversations, as the daemon has them in its memory, and every change of them.
//!
//! Whoever changes the queue of a conversation holds its turnstile from looking to writing; the lock on everything is held
//! only to look and to take in what was written, never while the disk is waited for.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use rejoin::{ConversationId, Rejoin, TurnId};
use tokio::sync::{Notify, watch};

use super::at_work::AtWork;
use super::entry::{Asked, Entry, RunEnd};
use super::ephemeral::Ephemeral;
use super::flow_turns::FlowTurns;
use super::log;
use super::schedule::Served;
use super::state::{Phase, QueueState, Run};
use crate::problem::{Code, Problem};

/// So many may wait in one conversation.
const LONGEST_QUEUE: usize = 100;

/// Runs that wait, and those that run.
pub(crate) struct Queue {
    pub(super) max_runs: usize,
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
pub(super) struct All {
    pub(super) conversations: HashMap<ConversationId, Slot>,
    /// Where each run is, also of those that are just being written.
    pub(super) runs: HashMap<TurnId, ConversationId>,
    pub(super) at_work: HashMap<TurnId, AtWork>,
    pub(super) ephemeral: HashMap<TurnId, Ephemeral>,
    pub(super) flow_turns: FlowTurns,
    pub(super) served: Served,
    pub(super) stopping: bool,
    pub(super) started: u64,
    pub(super) ended: std::collections::BTreeMap<RunEnd, u64>,
}

/// The queue of one conversation.
#[derive(Default)]
pub(super) struct Slot {
    pub(super) turnstile: Arc<Mutex<()>>,
    pub(super) state: QueueState,
    /// How many lines its log has.
    pub(super) lines: usize,
    /// The run that is being started, runs, or is looked after.
    pub(super) at_work: Option<TurnId>,
    pub(super) not_before: Option<Instant>,
    pub(super) held: u32,
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

    pub(super) fn all(&self) -> MutexGuard<'_, All> {
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
            for entry in entries {
                slot.state.apply(entry);
            }
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

    /// Forgets a run that was refused before it began, which its caller is told now. Nobody may be at it any more.
    pub(crate) fn forget_refused(&self, rejoin: &Rejoin, run: TurnId) {
        let Some(conversation) = self.home_of(run) else { return };
        let turnstile = self.turnstile(conversation);
        let _turn = turnstile.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = self.all();
        let All { conversations, runs, .. } = &mut *all;
        let Some(slot) = conversations.get_mut(&conversation) else { return };
        if slot.at_work == Some(run) || !slot.state.forget_refused(run) {
            return;
        }
        runs.remove(&run);
        // Enough to be written anew, if there is anything left.
        slot.lines = usize::MAX;
        drop(all);
        self.compact(rejoin, conversation);
        self.changed();
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
                Ok((Vec::new(), standing.state.run(run).map(|known| Arc::clone(&known.asked))))
            })?;
            match known {
                Some(known) if known.digest == asked.digest && known.token == asked.token => {
                    return Ok(Submitted::Before);
                }
                Some(known) => return Err(key_reused(&known, before, &asked.token)),
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
}

/// The key, or the id, is another request's. Where that one went is told to the token it was asked for with: another
/// one may not see it.
pub(crate) fn key_reused(known: &Asked, conversation: ConversationId, token: &str) -> Problem {
    let (run, own) = (known.run(), known.token == token);
    let how = if own { "with another body" } else { "with another token" };
    let problem = Problem::new(Code::KeyReused, format!("run {run} was asked for already, {how}"))
        .hint("give each request a key, or an id, of its own")
        .with("run", run);
    if own { problem.with("conversation", conversation) } else { problem }
}

#[cfg(test)]
#[path = "all_queues_tests.rs"]
mod tests;
