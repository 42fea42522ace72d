//! Turns made of Pi's entries. Entries form a tree, and a branch may begin anywhere, in the middle of a turn, too:
//! whoever goes on there knows the turn up to there, so it gets a turn of its own that ends there.

use std::collections::HashMap;

use crate::stored_sessions::{StoredOutcome, StoredStep, StoredTurn};

/// So much of turns is copied for branches that begin inside; what lies beyond is not told apart.
const MOST_COPIED: usize = 64 << 20;

/// Where an entry stands.
#[derive(Clone, Copy, Default)]
pub(super) struct Place {
    /// Its turn; none before the first prompt.
    turn: Option<usize>,
    /// So many steps of the turn lead there.
    steps: usize,
    /// Pi itself cannot read an entry above.
    pub(super) is_cut_off: bool,
}

/// What an entry adds to its turn.
#[derive(Default)]
pub(super) struct Addition {
    pub(super) steps: Vec<StoredStep>,
    pub(super) outcome: Option<StoredOutcome>,
    pub(super) time_ms: Option<i64>,
    /// As large as its line.
    pub(super) bytes: usize,
}

/// The turns so far.
#[derive(Default)]
pub(super) struct TurnTree {
    pub(super) turns: Vec<StoredTurn>,
    /// Of each turn: how large it is, and whether another follows.
    state: Vec<(usize, bool)>,
    /// Turns that end where a branch begins, by the turn they were copied of and the number of steps.
    cut: HashMap<(usize, usize), usize>,
    copied: usize,
}

impl TurnTree {
    /// A prompt begins a turn behind the entry `parent`, which stands at `before`.
    pub(super) fn begin(&mut self, before: Place, parent: &str, turn: StoredTurn, bytes: usize) -> Place {
        let before = if before.is_cut_off { Place::default() } else { before };
        let parent = self.ending_at(before, parent);
        if let Some(state) = parent.and_then(|parent| self.state.get_mut(parent)) {
            state.1 = true;
        }
        self.turns.push(StoredTurn { parent, ..turn });
        self.state.push((bytes, false));
        Place { turn: Some(self.turns.len() - 1), ..Place::default() }
    }

    /// Adds what the entry `id` says behind the one at `before`. Nothing, if no prompt came before.
    pub(super) fn go_on(&mut self, before: Place, id: &str, addition: Addition) -> Option<Place> {
        let mut at = before.turn?;
        let is_at_end = self.turns.get(at)?.steps.len() == before.steps && !self.state.get(at)?.1;
        if !is_at_end {
            if addition.steps.is_empty() {
                return Some(before);
            }
            at = self.copy(at, before.steps, id);
        }
        let turn = self.turns.get_mut(at)?;
        turn.steps.extend(addition.steps);
        turn.ended_ms = addition.time_ms.or(turn.ended_ms);
        turn.outcome = addition.outcome.unwrap_or_else(|| std::mem::take(&mut turn.outcome));
        self.state.get_mut(at)?.0 += addition.bytes;
        Some(Place { turn: Some(at), steps: turn.steps.len(), ..before })
    }

    /// The turn that ends at a place, which is that of the entry `id`.
    pub(super) fn ending_at(&mut self, place: Place, id: &str) -> Option<usize> {
        let at = place.turn?;
        if self.turns.get(at)?.steps.len() == place.steps {
            return Some(at);
        }
        if let Some(cut) = self.cut.get(&(at, place.steps)) {
            return Some(*cut);
        }
        let cut = self.copy(at, place.steps, id);
        if cut != at {
            self.cut.insert((at, place.steps), cut);
        }
        Some(cut)
    }

    /// A turn beside this one that has its first steps.
    fn copy(&mut self, at: usize, steps: usize, id: &str) -> usize {
        let (Some(turn), Some((bytes, _))) = (self.turns.get(at), self.state.get(at).copied()) else {
            return at;
        };
        if self.copied.saturating_add(bytes) > MOST_COPIED {
            return at;
        }
        self.copied += bytes;
        let steps: Vec<StoredStep> = turn.steps.iter().take(steps).cloned().collect();
        let ended_ms = steps.iter().rev().find_map(|step| match step {
            StoredStep::Answer(answer) => answer.time_ms,
            _ => None,
        });
        let copy = StoredTurn {
            id: format!("{}/{id}", turn.id),
            parent: turn.parent,
            prompt: turn.prompt.clone(),
            attached: turn.attached.clone(),
            outcome: if ended_at_answer(&steps) { StoredOutcome::Completed } else { StoredOutcome::Open },
            steps,
            dir: turn.dir.clone(),
            branch: turn.branch.clone(),
            started_ms: turn.started_ms,
            ended_ms: ended_ms.or(turn.started_ms),
        };
        self.turns.push(copy);
        self.state.push((bytes, false));
        self.turns.len() - 1
    }
}

/// Whether the last that was said is an answer and not a call.
fn ended_at_answer(steps: &[StoredStep]) -> bool {
    matches!(steps.last(), Some(StoredStep::Answer(answer)) if !answer.text.is_empty())
}
