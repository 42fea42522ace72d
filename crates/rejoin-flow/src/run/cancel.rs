//! Stopping a run that is going on in another process.

use super::asked_to_stop::ask_to_stop;
use super::history::holder;
use super::record::RunId;
use super::run_by::RunBy;
use crate::FlowError;
use rejoin::Rejoin;

/// Asks the process that holds a run's lock to stop; gives its number.
pub fn cancel(rejoin: &Rejoin, id: RunId) -> Result<u32, FlowError> {
    let Some(owner) = holder(rejoin, id)? else {
        return Err(FlowError::NotFound(format!("nobody is at run {id}; there is nothing to stop")));
    };
    // Its number alone may be somebody else's by now.
    let Some(process) = owner.process() else {
        let words =
            format!("run {id} is held by {owner}: that is not surely the process to stop; end it yourself");
        return Err(FlowError::Busy(words));
    };
    if RunBy::of(&owner) == RunBy::Daemon {
        ask_to_stop(rejoin, id)?;
        return Ok(process.pid());
    }
    process.terminate().map_err(|cause| FlowError::Unreachable { pid: process.pid(), cause })?;
    Ok(process.pid())
}
