//! Deleting runs. What their turns said stays: that is in the conversations.

use std::path::Path;
use std::time::{Duration, SystemTime};

use rejoin::Rejoin;
use rejoin_journal::LogKind;

use super::history::{Standing, unknown};
use super::overview::{Overview, runs};
use super::prepare::take;
use super::record::RunId;
use super::run_by::RunBy;
use crate::FlowError;

/// Deletes what is known of a run; one that is going on is refused.
pub fn remove(rejoin: &Rejoin, id: RunId) -> Result<(), FlowError> {
    let _lease = take(rejoin, id, RunBy::Command, None)?;
    let was_there = rejoin.store().logs().remove(LogKind::FlowRun, id)?;
    if was_there { Ok(()) } else { Err(unknown(&id.to_string())) }
}

/// The runs that nothing was written about for some time, newest first, of the project a directory is in or of all.
/// Those that are going on are not among them.
pub fn prunable(
    rejoin: &Rejoin,
    project: Option<&Path>,
    older_than: Duration,
) -> Result<Vec<Overview>, FlowError> {
    let now = SystemTime::now();
    let is_old = |run: &Overview| {
        let written = rejoin.store().logs().modified(LogKind::FlowRun, run.id);
        let unused = written.and_then(|written| now.duration_since(written).ok());
        unused.is_some_and(|unused| unused > older_than)
    };
    let mut old = runs(rejoin, project)?;
    old.retain(|run| run.standing != Standing::Running && is_old(run));
    Ok(old)
}
