//! Runs in brief, so that many of them can be listed.

use std::collections::BTreeSet;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::history::{Standing, holder, ids};
use super::log;
use super::record::{RunId, State};
use crate::FlowError;

/// A run in brief: without what its steps said.
#[derive(Clone, Debug, Serialize)]
pub struct Overview {
    /// The run.
    pub id: RunId,
    /// The name of the flow.
    pub flow: String,
    /// Its file, as the user named it.
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
#[derive(Deserialize)]
struct Head {
    id: RunId,
    flow: String,
    source: HeadSource,
    dir: String,
    time: String,
}

#[derive(Deserialize)]
struct HeadSource {
    file: String,
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
}

impl Overview {
    fn read(home: &Path, path: &Path) -> Result<Option<Self>, FlowError> {
        let Some(head) = log::glance::<Head>(path)?.next().transpose()? else { return Ok(None) };
        let mut standing = Standing::Interrupted;
        let mut done = BTreeSet::new();
        for record in log::glance::<Brief>(path)? {
            let Brief { kind, step, index, state, anew } = record?;
            match (kind.as_str(), step, state) {
                ("resumed", ..) => {
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
        if holder(home, head.id)?.is_some() {
            standing = Standing::Running;
        }
        let Head { id, flow, source, dir, time } = head;
        Ok(Some(Self { id, flow, file: source.file, dir, time, standing, done: done.len() }))
    }
}

/// All runs of a home, newest first.
pub fn runs(home: &Path) -> Result<Vec<Overview>, FlowError> {
    let mut runs = Vec::new();
    for id in ids(home) {
        runs.extend(Overview::read(home, &log::path(home, id))?);
    }
    runs.sort_by(|one, other| other.time.cmp(&one.time));
    Ok(runs)
}

/// The newest run of a home.
pub(crate) fn newest(home: &Path) -> Result<Option<RunId>, FlowError> {
    let mut newest: Option<Head> = None;
    for id in ids(home) {
        let head = log::glance::<Head>(&log::path(home, id))?.next().transpose()?;
        newest = newest.into_iter().chain(head).max_by(|one, other| one.time.cmp(&other.time));
    }
    Ok(newest.map(|head| head.id))
}
