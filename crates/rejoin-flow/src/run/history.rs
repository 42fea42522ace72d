//! Runs that were begun: what their files say.

use std::collections::BTreeMap;
use std::path::Path;

use rejoin::{ConversationId, TurnId};
use rejoin_journal::{Locks, Owner};
use serde::Serialize;

use super::log;
use super::record::{Begun, Ended, Key, Record, RunId, State};
use crate::FlowError;

/// A run as its file tells it.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    /// What is run.
    #[serde(flatten)]
    pub begun: Begun,
    /// Where it stands.
    pub standing: Standing,
    /// What the steps came to, in the order they ended.
    pub results: Vec<Ended>,
    /// The turns of steps that began and did not end.
    #[serde(skip)]
    pub(crate) open: BTreeMap<Key, (ConversationId, TurnId)>,
}

/// Where a run stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// A process is at it.
    Running,
    /// Its process is gone without having ended it.
    Interrupted,
    /// It ended well.
    Done,
    /// It ended otherwise.
    Failed,
    /// The user stopped it.
    Cancelled,
}

impl Standing {
    /// The stable word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Standing::Running => "running",
            Standing::Interrupted => "interrupted",
            Standing::Done => "done",
            Standing::Failed => "failed",
            Standing::Cancelled => "cancelled",
        }
    }
}

impl Run {
    fn read(home: &Path, path: &Path) -> Result<Option<Self>, FlowError> {
        let mut records = log::read(path)?.into_iter();
        let Some(Record::Run(begun)) = records.next() else { return Ok(None) };
        let mut run = Run {
            begun: *begun,
            standing: Standing::Interrupted,
            results: Vec::new(),
            open: BTreeMap::new(),
        };
        for record in records {
            run.take_in(record);
        }
        if holder(home, run.begun.id)?.is_some() {
            run.standing = Standing::Running;
        }
        Ok(Some(run))
    }

    fn take_in(&mut self, record: Record) {
        match record {
            Record::Run(_) | Record::StepBegun { .. } => {}
            Record::Resumed { anew, .. } => {
                self.standing = Standing::Interrupted;
                self.forget(&anew);
            }
            Record::Turn { key, conversation, turn } => {
                self.open.insert(key, (conversation, turn));
            }
            Record::StepEnded(ended) => {
                // A turn that did not end well is taken up again where it stands.
                match ended.turn().filter(|_| !ended.is_final()) {
                    Some(turn) => self.open.insert(ended.key.clone(), turn),
                    None => self.open.remove(&ended.key),
                };
                self.results.retain(|other| other.key != ended.key);
                self.results.push(*ended);
            }
            Record::Result { state, .. } => {
                self.standing = match state {
                    State::Done | State::Skipped => Standing::Done,
                    State::Failed => Standing::Failed,
                    State::Cancelled => Standing::Cancelled,
                };
            }
        }
    }

    /// As if these steps had never been run.
    pub(crate) fn forget(&mut self, steps: &[String]) {
        self.results.retain(|ended| !steps.contains(&ended.key.step));
        self.open.retain(|key, _| !steps.contains(&key.step));
    }
}

/// The name of a run's lock.
pub(crate) fn lock_name(id: RunId) -> String {
    format!("flow-{id}")
}

/// The locks of a home.
pub(crate) fn locks(home: &Path) -> Locks {
    Locks::new(home.join("locks"))
}

/// The process that is at a run, if one is.
pub fn holder(home: &Path, id: RunId) -> Result<Option<Owner>, FlowError> {
    Ok(locks(home).holder(&lock_name(id))?)
}

/// All runs of a home, newest first.
pub fn runs(home: &Path) -> Result<Vec<Run>, FlowError> {
    let Ok(entries) = std::fs::read_dir(log::directory(home)) else { return Ok(Vec::new()) };
    let mut runs = Vec::new();
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.extension().is_some_and(|ending| ending == "jsonl") {
            runs.extend(Run::read(home, &path)?);
        }
    }
    runs.sort_by(|one, other| other.begun.time.cmp(&one.begun.time));
    Ok(runs)
}

/// A run by its id, the beginning of it, or `@` for the newest.
pub fn find(home: &Path, reference: &str) -> Result<Run, FlowError> {
    let mut runs = runs(home)?;
    if runs.is_empty() {
        return Err(FlowError::NotFound("no flow was run yet; begin with `rejoin flow run FILE`".into()));
    }
    if reference == "@" {
        return Ok(runs.remove(0));
    }
    let wanted = reference.to_ascii_lowercase();
    runs.retain(|run| !wanted.is_empty() && run.begun.id.to_string().starts_with(&wanted));
    match runs.len() {
        1 => Ok(runs.remove(0)),
        0 => {
            Err(FlowError::NotFound(format!("no run has the id {reference:?}; `rejoin flow ls` shows them")))
        }
        count => Err(FlowError::Usage(format!("{count} runs begin with {reference:?}; give more of the id"))),
    }
}
