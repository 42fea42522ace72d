//! The turns of a session in the making, as its timeline tells them.

use std::collections::HashMap;
use std::mem;

use rejoin_core::Usage;

use super::segments::Segment;
use super::stored_records::TokenInfo;
use crate::stored_sessions::{StoredAnswer, StoredOutcome, StoredStep, StoredTurn, UnknownKinds};

/// Where a timeline stands.
#[derive(Clone, Default)]
pub(super) struct Place {
    /// The last turn the agent would remember.
    pub(super) tip: Option<usize>,
    pub(super) branch: Option<String>,
    pub(super) dir: Option<String>,
    pub(super) model: Option<String>,
    pub(super) total: Usage,
}

/// What a task of the agent's has done so far; a prompt begins it, and more may be typed while it runs.
#[derive(Default)]
pub(super) struct Task {
    /// The agent's id of it.
    pub(super) id: Option<String>,
    /// The turns of its prompts.
    turns: Vec<usize>,
    pub(super) is_answered: bool,
    /// Its messages are told by items; nothing before the first one.
    pub(super) by_items: Option<bool>,
    /// What went wrong, as far as that is told.
    pub(super) error: Option<String>,
}

/// What must be known of a turn beside what is told of it.
#[derive(Default)]
struct Progress {
    /// Answers that have ids of ours.
    named: usize,
    /// The step at which the request to the model begins that is not yet counted.
    request: usize,
    /// Tasks of this turn's time have no marks.
    is_unmarked: bool,
}

/// What was told so far.
#[derive(Default)]
pub(super) struct Timeline {
    pub(super) place: Place,
    pub(super) task: Task,
    /// When the record was written that is taken in.
    pub(super) time: Option<i64>,
    /// Which calls failed, as far as items tell.
    pub(super) failed: HashMap<String, bool>,
    pub(super) unknown: UnknownKinds,
    turns: Vec<StoredTurn>,
    progress: Vec<Progress>,
    thought: String,
    thought_id: String,
    /// How often each id was given to a turn.
    ids: HashMap<String, usize>,
    segment: String,
    prompts_of_segment: usize,
}

impl Timeline {
    /// It goes on in this file, at this place.
    pub(super) fn begin(&mut self, segment: &Segment, place: Place) {
        self.place = place;
        self.segment.clone_from(&segment.id);
        self.prompts_of_segment = 0;
        if segment.base_is_missing {
            self.unknown.add("history_base that is not there");
        }
    }

    /// The turns, and what was not understood.
    pub(super) fn finish(mut self) -> (Vec<StoredTurn>, Vec<(String, usize)>) {
        for (turn, progress) in self.turns.iter_mut().zip(&self.progress) {
            let said = turn.steps.iter().rev().find(|step| !is_only_usage(step));
            if progress.is_unmarked && turn.outcome == StoredOutcome::Open && said.is_some_and(is_said) {
                turn.outcome = StoredOutcome::Completed;
            }
            for step in &mut turn.steps {
                if let StoredStep::Result { call, failed, .. } = step {
                    *failed |= self.failed.get(call).is_some_and(|failed| *failed);
                }
            }
        }
        (self.turns, self.unknown.into_list())
    }

    /// The turn of what was typed last in the task that runs.
    pub(super) fn typed_last(&mut self) -> Option<&mut StoredTurn> {
        self.task.turns.last().and_then(|at| self.turns.get_mut(*at))
    }

    /// Something was typed.
    pub(super) fn prompt(&mut self, prompt: String, attached: Vec<String>, turn: Option<String>) {
        if prompt.trim().is_empty() && attached.is_empty() {
            return;
        }
        self.flush_thought();
        self.prompts_of_segment += 1;
        let is_unmarked = self.task.id.is_none() && turn.is_none();
        if is_unmarked {
            // The end of the one before it is not told.
            self.task.turns.clear();
        }
        let id = turn.or_else(|| self.task.id.clone());
        let id = id.unwrap_or_else(|| format!("{}:{}", self.segment, self.prompts_of_segment));
        let id = self.unique(id);
        let at = self.turns.len();
        self.turns.push(StoredTurn {
            id,
            parent: self.place.tip,
            prompt,
            attached,
            dir: self.place.dir.clone(),
            branch: self.place.branch.clone(),
            started_ms: self.time,
            ended_ms: self.time,
            ..StoredTurn::default()
        });
        self.progress.push(Progress { is_unmarked, ..Progress::default() });
        self.place.tip = Some(at);
        self.task.turns.push(at);
    }

    /// What is typed while a task runs is a turn of its own; Codex has one id for both.
    fn unique(&mut self, id: String) -> String {
        loop {
            let times = self.ids.entry(id.clone()).or_default();
            *times += 1;
            if *times == 1 {
                return id;
            }
            let wanted = format!("{id}:{times}");
            if !self.ids.contains_key(&wanted) {
                self.ids.insert(wanted.clone(), 1);
                return wanted;
            }
        }
    }

    /// The agent thought.
    pub(super) fn think(&mut self, thought: &str, id: &str) {
        if !self.thought.is_empty() {
            self.thought.push_str("\n\n");
        }
        self.thought.push_str(thought);
        id.clone_into(&mut self.thought_id);
    }

    /// A thought no words followed.
    pub(super) fn flush_thought(&mut self) {
        if !self.thought.is_empty() {
            let id = mem::take(&mut self.thought_id);
            self.answer(String::new(), id);
        }
    }

    /// The agent said this, after what it thought.
    pub(super) fn answer(&mut self, text: String, id: String) {
        self.task.is_answered |= !text.is_empty();
        let thought = mem::take(&mut self.thought);
        let Some(at) = self.current() else {
            return self.unknown.add("an answer before any prompt");
        };
        let answer = StoredAnswer {
            id: if id.is_empty() { self.answer_id(at) } else { id },
            text,
            thought,
            model: self.place.model.clone(),
            usage: None,
            time_ms: self.time,
        };
        self.step(StoredStep::Answer(answer));
    }

    fn answer_id(&mut self, turn: usize) -> String {
        let number = self.progress.get_mut(turn).map_or(0, |progress| {
            progress.named += 1;
            progress.named
        });
        let turn = self.turns.get(turn).map_or("", |turn| turn.id.as_str());
        format!("{turn}/{number}")
    }

    /// The turn that what is told now belongs to; a task without a prompt goes on with the last one.
    fn current(&self) -> Option<usize> {
        self.task.turns.last().copied().or(self.place.tip)
    }

    /// Something else was done.
    pub(super) fn step(&mut self, step: StoredStep) {
        match self.current().and_then(|at| self.turns.get_mut(at)) {
            Some(turn) => turn.steps.push(step),
            None => self.unknown.add("a step before any prompt"),
        }
    }

    /// The tokens of a request are told when it is over, and told again when nothing was asked.
    pub(super) fn count(&mut self, info: &TokenInfo) {
        let Some(total) = info.total_token_usage.0.map(Usage::from) else { return };
        if total == self.place.total {
            return;
        }
        let last = info.last_token_usage.0.map(Usage::from).filter(|last| *last != Usage::default());
        let used = last.unwrap_or_else(|| total.since(self.place.total));
        self.place.total = total;
        let Some(at) = self.current() else { return };
        let (model, time_ms) = (self.place.model.clone(), self.time);
        self.flush_thought();
        let (Some(turn), Some(progress)) = (self.turns.get_mut(at), self.progress.get_mut(at)) else {
            return;
        };
        let request = progress.request.min(turn.steps.len());
        let mut answers = turn.steps[request..].iter_mut().filter_map(|step| match step {
            StoredStep::Answer(answer) if answer.usage.is_none() => Some(answer),
            _ => None,
        });
        if let Some(answer) = answers.next() {
            answer.usage = Some(used);
            progress.request = turn.steps.len();
            return;
        }
        // It only called tools.
        let is_call = |step: &StoredStep| matches!(step, StoredStep::Call { .. });
        let place =
            turn.steps[request..].iter().position(is_call).map_or(turn.steps.len(), |call| request + call);
        progress.request = turn.steps.len() + 1;
        let id = self.answer_id(at);
        let answer = StoredAnswer { id, model, usage: Some(used), time_ms, ..StoredAnswer::default() };
        if let Some(turn) = self.turns.get_mut(at) {
            turn.steps.insert(place, StoredStep::Answer(answer));
        }
    }

    /// The task is over.
    pub(super) fn over(&mut self, outcome: &StoredOutcome) {
        self.flush_thought();
        let last = self.task.turns.last().copied();
        for at in &self.task.turns {
            let Some(turn) = self.turns.get_mut(*at) else { continue };
            // What was typed meanwhile was answered together, or in between.
            let is_answered = turn.steps.iter().any(is_said);
            let was_answered = Some(*at) != last && is_answered;
            turn.outcome = if was_answered { StoredOutcome::Completed } else { outcome.clone() };
            turn.ended_ms = self.time.or(turn.ended_ms);
        }
        self.end_task();
    }

    /// Nothing more is told of the task.
    pub(super) fn end_task(&mut self) {
        self.flush_thought();
        self.task = Task::default();
    }

    /// The agent forgets so many prompts; what was done about them stays as a branch.
    pub(super) fn roll_back(&mut self, prompts: u64) {
        self.end_task();
        for _ in 0..prompts {
            let Some(turn) = self.place.tip.and_then(|at| self.turns.get(at)) else { break };
            self.place.tip = turn.parent;
        }
    }
}

/// Whether a step was only made to tell what a request used.
fn is_only_usage(step: &StoredStep) -> bool {
    matches!(step, StoredStep::Answer(answer) if answer.text.is_empty() && answer.thought.is_empty())
}

/// Whether the agent said something in a step.
fn is_said(step: &StoredStep) -> bool {
    matches!(step, StoredStep::Answer(answer) if !answer.text.is_empty())
}
