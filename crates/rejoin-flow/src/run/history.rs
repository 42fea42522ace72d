//! Runs that were begun: what their files say.

use std::collections::BTreeMap;
use std::path::Path;

use rejoin::{ConversationId, Rejoin, TurnId};
use rejoin_journal::{LeaseName, LogKind, Owner};
use serde::Serialize;

use super::line::Line;
use super::log;
use super::overview::newest;
use super::record::{Begun, Ended, Key, Record, RunId, State};
use crate::FlowError;
use crate::model::{Flow, Step};

/// A run as its file tells it.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = FlowRun))]
pub struct Run {
    /// What is run.
    #[serde(flatten)]
    pub begun: Begun,
    /// Where it stands.
    pub standing: Standing,
    /// The numbers of damaged lines in its file: what they said is lost.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<usize>,
    /// What its steps came to.
    #[serde(flatten)]
    pub steps: Steps,
}

/// What is known of the steps of a run.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = FlowSteps))]
pub struct Steps {
    /// What they came to, in the order they ended.
    pub results: Vec<Ended>,
    /// Those that were begun and are not over, in the order they began: running ones, or where a run was cut.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<Open>,
    /// The turns of steps that are not over for good, oldest first. The last one may not exist: it is noted before
    /// it begins.
    #[serde(skip)]
    pub(crate) turns: BTreeMap<Key, Vec<Noted>>,
}

/// A step that was begun and is not over.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = OpenStep))]
pub struct Open {
    /// Which.
    #[serde(flatten)]
    pub key: Key,
    /// The first try is 1.
    pub attempt: u32,
    /// Since when.
    pub time: String,
}

/// A turn that was noted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Noted {
    pub(crate) conversation: ConversationId,
    pub(crate) turn: TurnId,
    /// It sends an answer back, in the try that is under way.
    pub(crate) sent_back: bool,
}

/// Where a run stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = FlowStanding))]
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
    /// Its first line, which said what is run, is lost: it cannot go on.
    Damaged,
}

impl Standing {
    pub(crate) const fn after(state: State) -> Self {
        match state {
            State::Done | State::Skipped => Standing::Done,
            State::Failed => Standing::Failed,
            State::Cancelled => Standing::Cancelled,
        }
    }

    /// The stable word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Standing::Running => "running",
            Standing::Interrupted => "interrupted",
            Standing::Done => "done",
            Standing::Failed => "failed",
            Standing::Cancelled => "cancelled",
            Standing::Damaged => "damaged",
        }
    }
}

impl Run {
    fn read(rejoin: &Rejoin, id: RunId) -> Result<Option<Self>, FlowError> {
        let logs = rejoin.store().logs();
        let mut lines = log::lines(logs, id)?;
        let begun = loop {
            let Some((line, content)) = lines.next().transpose()? else { return Ok(None) };
            match content {
                Line::Nothing => continue,
                Line::Record(record) => {
                    if let Record::Run(begun) = *record {
                        break *begun;
                    }
                }
                Line::Damaged => {}
            }
            let next = "it said what is run, so the run cannot go on; begin a new one".to_owned();
            return Err(FlowError::Damaged { file: logs.place(LogKind::FlowRun, id), line, next });
        };
        let standing = Standing::Interrupted;
        let mut run = Run { begun, standing, damaged: Vec::new(), steps: Steps::default() };
        for line in lines {
            let record = match line? {
                (_, Line::Record(record)) => *record,
                (_, Line::Nothing) => continue,
                (number, Line::Damaged) => {
                    run.damaged.push(number);
                    continue;
                }
            };
            match &record {
                Record::Resumed { damaged, updated, .. } => {
                    if let Some(begun) = updated {
                        run.begun = (**begun).clone();
                    }
                    run.standing = Standing::Interrupted;
                    run.damaged.retain(|line| !damaged.contains(line));
                }
                Record::Result { state, .. } => run.standing = Standing::after(*state),
                _ => {}
            }
            run.steps.take_in(record);
        }
        if holder(rejoin, run.begun.id)?.is_some() {
            run.standing = Standing::Running;
        }
        Ok(Some(run))
    }
}

impl Run {
    /// What the last step came to, for the next program in a pipe; of a group, what the last of its steps said that
    /// said something.
    pub fn last_output(&self, flow: &Flow) -> Option<&str> {
        self.last_to_speak(flow).map(|ended| ended.output.as_str())
    }

    /// The step whose output that is.
    pub fn last_to_speak(&self, flow: &Flow) -> Option<&Ended> {
        let results = &self.steps.results;
        let speaks =
            |ended: &Ended| ended.key.index.is_none() && (ended.state == State::Done || ended.allowed);
        let among = |ended: &Ended, steps: &[Step]| steps.iter().any(|step| step.name == ended.key.step);
        let last = results.iter().rfind(|ended| speaks(ended) && among(ended, &flow.steps));
        let inner = last.and_then(|ended| flow.step(&ended.key.step)).map(Step::inner).unwrap_or_default();
        let in_group = |ended: &&Ended| speaks(ended) && among(ended, inner) && !ended.output.is_empty();
        let said = if inner.is_empty() { last } else { results.iter().rfind(in_group) };
        said.filter(|ended| !ended.output.is_empty())
    }
}

impl Steps {
    pub(crate) fn take_in(&mut self, record: Record) {
        match record {
            Record::Run(_) | Record::AskedToStop { .. } => {}
            Record::Result { .. } => self.open.clear(),
            Record::StepBegun { key, attempt, time, .. } => {
                if attempt > 1 {
                    self.may_send_back(&key);
                }
                self.open.retain(|open| open.key != key);
                self.open.push(Open { key, attempt, time });
            }
            Record::Resumed { anew, .. } => {
                self.open.clear();
                self.forget(&anew);
            }
            Record::Turn { key, conversation, turn, sent_back } => {
                self.turns.entry(key).or_default().push(Noted { conversation, turn, sent_back });
            }
            Record::StepEnded(ended) => {
                // A turn that did not end well is taken up again where it stands.
                if ended.is_final() {
                    self.turns.remove(&ended.key);
                }
                if ended.state == State::Failed {
                    self.may_send_back(&ended.key);
                }
                self.open.retain(|open| open.key != ended.key);
                self.results.retain(|other| other.key != ended.key);
                self.results.push(*ended);
            }
        }
    }

    /// Another try may send its answer back, too.
    fn may_send_back(&mut self, key: &Key) {
        for noted in self.turns.get_mut(key).into_iter().flatten() {
            noted.sent_back = false;
        }
    }

    /// What a step came to, as far as it was run.
    pub(crate) fn result(&self, key: &Key) -> Option<&Ended> {
        self.results.iter().find(|ended| ended.key == *key)
    }

    /// As if these steps had never been run.
    pub(crate) fn forget(&mut self, steps: &[String]) {
        self.results.retain(|ended| !steps.contains(&ended.key.step));
        self.turns.retain(|key, _| !steps.contains(&key.step));
    }
}

/// The process that is at a run, if one is.
pub fn holder(rejoin: &Rejoin, id: RunId) -> Result<Option<Owner>, FlowError> {
    Ok(rejoin.leases().holder(&LeaseName::flow_run(id))?)
}

/// The ids of all runs of a home, in no order.
pub(crate) fn ids(rejoin: &Rejoin) -> Vec<RunId> {
    rejoin.store().logs().ids(LogKind::FlowRun).unwrap_or_default()
}

/// A run by its id.
pub fn open(rejoin: &Rejoin, id: RunId) -> Result<Run, FlowError> {
    let found = rejoin.store().logs().modified(LogKind::FlowRun, id);
    found.ok_or_else(|| unknown(&id.to_string()))?;
    Run::read(rejoin, id)?.ok_or_else(|| unknown(&id.to_string()))
}

/// A run by its id, the beginning of it, or `@` for the newest of the project a directory is in.
pub fn find(rejoin: &Rejoin, here: &Path, reference: &str) -> Result<Run, FlowError> {
    Run::read(rejoin, find_id(rejoin, here, reference)?)?.ok_or_else(|| unknown(reference))
}

/// The same, whatever became of its file.
pub fn find_id(rejoin: &Rejoin, here: &Path, reference: &str) -> Result<RunId, FlowError> {
    if reference == "@" {
        return newest(rejoin, here)?.ok_or_else(|| FlowError::NotFound(NONE_HERE.into()));
    }
    let wanted = reference.to_ascii_lowercase();
    let mut ids = ids(rejoin);
    if ids.is_empty() {
        return Err(FlowError::NotFound(NONE.into()));
    }
    ids.retain(|id| !wanted.is_empty() && id.to_string().starts_with(&wanted));
    match ids.as_slice() {
        [] => Err(unknown(reference)),
        [id] => Ok(*id),
        several => {
            let count = several.len();
            let words = format!("{count} runs begin with {reference:?}; give more of the id");
            Err(FlowError::Usage(words))
        }
    }
}

pub(super) fn unknown(reference: &str) -> FlowError {
    FlowError::NotFound(format!("no run has the id {reference:?}; `rejoin flow ls` shows them"))
}

const NONE_HERE: &str = "no flow was run in this project yet; begin with `rejoin flow run FILE`, or name a run by its \
                         id (`rejoin flow ls --all-projects`)";
const NONE: &str = "no flow was run yet; begin with `rejoin flow run FILE`";
