//! Steps that run at once.

use super::at_once::at_once;
use super::record::{Ended, Key, State};
use super::stop::Stop;
use super::walk::{Task, Walk};
use crate::FlowError;
use crate::model::{Failure, Parallel, Step, Strategy};

impl Walk<'_> {
    pub(super) fn parallel(
        &self,
        task: &Task<'_>,
        group: &Parallel,
        halt: &Stop,
    ) -> Result<Ended, FlowError> {
        self.begins(task.key)?;
        let own_halt = halt.part();
        let known = |step: &Step| self.result(&Key::of(&step.name));
        // A run that was cut may have had its one success already.
        let won = |step| known(step).is_some_and(|ended| ended.state == State::Done);
        let over = group.strategy == Strategy::Any && group.steps.iter().any(won);
        let count = if over { 0 } else { group.steps.len() };
        at_once(count, group.max_concurrent, &own_halt, |at| {
            let ended = self.step(&group.steps[at], &own_halt)?;
            let enough = match group.strategy {
                Strategy::All => ended.stops(),
                Strategy::Any => ended.state == State::Done,
                Strategy::BestEffort => false,
            };
            if enough && group.strategy == Strategy::Any {
                own_halt.request();
            }
            Ok(((), enough))
        })?;
        let mut ends = Vec::new();
        for step in &group.steps {
            ends.push(match known(step) {
                Some(ended) => ended,
                None => self.ends(step, Ended::new(&Key::of(&step.name), State::Skipped))?,
            });
        }
        Ok(judged(task.key, group.strategy, &ends, halt.requested()))
    }
}

/// What the ends of all mean for the whole.
fn judged(key: &Key, strategy: Strategy, ends: &[Ended], stopped: bool) -> Ended {
    let failed = ends.iter().find(|ended| ended.state == State::Failed && ended.stops());
    let done = ends.iter().any(|ended| ended.state == State::Done);
    // Somebody may have stopped one of them, not the run.
    let cut = strategy == Strategy::All && failed.is_none() && ends.iter().any(Ended::stops);
    match strategy {
        Strategy::Any if done => Ended::new(key, State::Done),
        _ if stopped || cut => Ended::new(key, State::Cancelled),
        Strategy::All if failed.is_none() => Ended::new(key, State::Done),
        Strategy::BestEffort => Ended::new(key, State::Done),
        Strategy::All | Strategy::Any => {
            let why = failed.map(|one| format!("{}: {}", one.key, one.error.clone().unwrap_or_default()));
            let why = why.unwrap_or_else(|| "none of the steps succeeded".into());
            let failure = failed.and_then(|one| one.failure).unwrap_or(Failure::Refused);
            let code = failed.map_or(1, |one| one.code);
            Ended { code, ..Ended::failed(key, failure, why) }
        }
    }
}
