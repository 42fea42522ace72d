//! Turns of flows: they wait for a place among the runs and take it; nothing else of a queue is theirs.

use std::collections::HashMap;
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use rejoin::{ConversationId, TurnId};
use rejoin_flow::TurnPlaces;

use super::now;
use super::schedule::Candidate;
use crate::app::Shared;

/// How often somebody who waits looks whether his flow was stopped.
const GLANCE: Duration = Duration::from_millis(50);

/// Turns of flows, as the scheduler sees them.
#[derive(Default)]
pub(super) struct FlowTurns {
    waiting: HashMap<TurnId, (Candidate, mpsc::Sender<()>)>,
    /// The projects of those that have a place.
    running: HashMap<TurnId, String>,
}

impl FlowTurns {
    /// Those that wait.
    pub(super) fn candidates(&self) -> impl Iterator<Item = Candidate> {
        self.waiting.values().map(|(candidate, _)| candidate.clone())
    }

    /// The project of each that has a place.
    pub(super) fn running(&self) -> impl ExactSizeIterator<Item = &String> {
        self.running.values()
    }

    /// Gives a turn its place; `false` if it is none of these.
    pub(super) fn begin(&mut self, turn: TurnId) -> bool {
        let Some((candidate, may_begin)) = self.waiting.remove(&turn) else { return false };
        // Who does not wait any more gives the place back by leaving.
        let _ = may_begin.send(());
        self.running.insert(turn, candidate.project);
        true
    }
}

/// The places of this daemon (`--max-runs`), for turns of flows.
pub(crate) struct FlowTurnPlaces(pub(crate) Shared);

impl TurnPlaces for FlowTurnPlaces {
    fn enter(&self, turn: TurnId, conversation: ConversationId, dir: &Path, stopped: &dyn Fn() -> bool) {
        let project = rejoin_engine::project_of(dir).to_string_lossy().into_owned();
        let (may_begin, told) = mpsc::channel();
        let candidate = Candidate { conversation, project, run: turn, time: now() };
        self.0.queue.all().flow_turns.waiting.insert(turn, (candidate, may_begin));
        self.0.queue.kick.notify_one();
        while matches!(told.recv_timeout(GLANCE), Err(mpsc::RecvTimeoutError::Timeout)) && !stopped() {}
    }

    fn leave(&self, turn: TurnId) {
        let mut all = self.0.queue.all();
        all.flow_turns.waiting.remove(&turn);
        all.flow_turns.running.remove(&turn);
        drop(all);
        self.0.queue.changed();
        self.0.queue.kick.notify_one();
    }
}
