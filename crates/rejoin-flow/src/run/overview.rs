//! Runs in brief, so that many of them can be listed.

use std::collections::BTreeSet;
use std::path::Path;

use rejoin::Rejoin;
use rejoin_journal::{LogKind, Logs};
use serde::{Deserialize, Serialize};

use super::history::{Standing, holder, ids, unknown};
use super::log;
use super::record::{RunId, State};
use crate::FlowError;

/// A run in brief: without what its steps said.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = FlowOverview))]
pub struct Overview {
    /// The run.
    #[cfg_attr(feature = "openapi", schema(value_type = uuid::Uuid))]
    pub id: RunId,
    /// The name of the flow.
    pub flow: String,
    /// Its file, as the user named it; of a damaged run, the one that tells of the run.
    pub file: String,
    /// Where it runs.
    pub dir: String,
    /// When it was begun.
    pub time: String,
    /// Where it stands.
    pub standing: Standing,
    /// How many of its steps are done.
    pub done: usize,
}

/// The first record, as far as an overview needs it.
#[derive(Deserialize, Default)]
struct Head {
    flow: String,
    source: HeadSource,
    dir: String,
    time: String,
    /// It cannot be read.
    #[serde(skip)]
    lost: bool,
}

#[derive(Deserialize, Default)]
struct HeadSource {
    file: String,
}

impl Head {
    /// What a file begins with. One that is lost is told by what follows it, or by the age of the file: a run
    /// that is left out would make another one the newest. `None` if nothing was written to the end.
    fn read(logs: &dyn Logs, id: RunId) -> Result<Option<Self>, FlowError> {
        let Some(line) = log::first_line(logs, id)? else { return Ok(None) };
        if let Ok(head) = serde_json::from_slice(&line) {
            return Ok(Some(head));
        }
        let dated = log::glance::<Dated>(logs, id)?.next().transpose()?;
        let modified = || jiff::Timestamp::try_from(logs.modified(LogKind::FlowRun, id)?).ok();
        let time = dated.map(|dated| dated.time).or_else(|| Some(format!("{:.3}", modified()?)));
        let source = HeadSource { file: logs.place(LogKind::FlowRun, id).display().to_string() };
        Ok(Some(Self { source, time: time.unwrap_or_default(), lost: true, ..Self::default() }))
    }
}

/// Any record that says when it was written.
#[derive(Deserialize)]
struct Dated {
    time: String,
}

/// Any other record, as far as an overview needs it.
#[derive(Deserialize)]
struct Brief {
    #[serde(rename = "type")]
    kind: String,
    step: Option<String>,
    index: Option<usize>,
    state: Option<State>,
    #[serde(default)]
    anew: Vec<String>,
    updated: Option<Head>,
}

impl Overview {
    fn read(rejoin: &Rejoin, id: RunId) -> Result<Option<Self>, FlowError> {
        let logs = rejoin.store().logs();
        let Some(mut head) = Head::read(logs, id)? else { return Ok(None) };
        let mut standing = Standing::Interrupted;
        let mut done = BTreeSet::new();
        for record in log::glance::<Brief>(logs, id)? {
            let Brief { kind, step, index, state, anew, updated } = record?;
            match (kind.as_str(), step, state) {
                ("resumed", ..) => {
                    if let Some(updated) = updated {
                        head = Head { lost: head.lost, ..updated };
                    }
                    standing = Standing::Interrupted;
                    done.retain(|step| !anew.contains(step));
                }
                ("result", _, Some(state)) => standing = Standing::after(state),
                ("step_ended", Some(step), Some(state)) if index.is_none() => {
                    if state == State::Done {
                        done.insert(step);
                    } else {
                        done.remove(&step);
                    }
                }
                _ => {}
            }
        }
        if holder(rejoin, id)?.is_some() {
            standing = Standing::Running;
        }
        if head.lost {
            standing = Standing::Damaged;
        }
        let Head { flow, source, dir, time, .. } = head;
        Ok(Some(Self { id, flow, file: source.file, dir, time, standing, done: done.len() }))
    }
}

/// What a run began with, so that many can be put in order, and one be judged, before all of it is read.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct RunStart {
    /// The run.
    pub id: RunId,
    /// Where it runs; empty if that is lost.
    pub dir: String,
    /// When it was begun.
    pub time: String,
}

impl RunStart {
    /// Of one run.
    pub fn of(rejoin: &Rejoin, id: RunId) -> Result<Self, FlowError> {
        let unknown = || unknown(&id.to_string());
        rejoin.store().logs().modified(LogKind::FlowRun, id).ok_or_else(unknown)?;
        Self::read(rejoin, id)?.ok_or_else(unknown)
    }

    /// Of all runs of a home, newest first.
    pub fn all(rejoin: &Rejoin) -> Result<Vec<Self>, FlowError> {
        let mut starts = Vec::new();
        for id in ids(rejoin) {
            starts.extend(Self::read(rejoin, id)?);
        }
        starts.sort_by(|one, other| (&other.time, other.id).cmp(&(&one.time, one.id)));
        Ok(starts)
    }

    fn read(rejoin: &Rejoin, id: RunId) -> Result<Option<Self>, FlowError> {
        let head = Head::read(rejoin.store().logs(), id)?;
        Ok(head.map(|head| Self { id, dir: head.dir, time: head.time }))
    }

    /// Whether it runs in a project; one that lost where it runs may be of any.
    pub fn is_of(&self, project: &Path) -> bool {
        self.dir.is_empty() || rejoin::project_of(Path::new(&self.dir)) == project
    }

    /// The run in brief; `None` if it was removed meanwhile.
    pub fn overview(&self, rejoin: &Rejoin) -> Result<Option<Overview>, FlowError> {
        Overview::read(rejoin, self.id)
    }
}

/// The runs of the project a directory is in, or all of a home, newest first.
pub fn runs(rejoin: &Rejoin, here: Option<&Path>) -> Result<Vec<Overview>, FlowError> {
    let project = here.map(rejoin::project_of);
    let mut runs = Vec::new();
    for start in RunStart::all(rejoin)? {
        if project.as_deref().is_none_or(|project| start.is_of(project)) {
            runs.extend(start.overview(rejoin)?);
        }
    }
    Ok(runs)
}

/// The newest run of the project a directory is in.
pub(crate) fn newest(rejoin: &Rejoin, here: &Path) -> Result<Option<RunId>, FlowError> {
    let project = rejoin::project_of(here);
    Ok(RunStart::all(rejoin)?.into_iter().find(|start| start.is_of(&project)).map(|start| start.id))
}
