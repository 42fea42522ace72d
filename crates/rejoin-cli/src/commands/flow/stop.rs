use anyhow::Context;
use rejoin_flow::FlowError;
use rustix::process::{Pid, Signal, kill_process};

use crate::cli::FlowCancelArgs;
use crate::commands::open;
use crate::{exit, style};

/// `rejoin flow cancel`: asks the process that holds the run's lock to stop.
pub(super) fn cancel(args: &FlowCancelArgs) -> anyhow::Result<i32> {
    let rejoin = open()?;
    let id = rejoin_flow::find(rejoin.home(), &args.run)?.begun.id;
    let owner = rejoin_flow::holder(rejoin.home(), id)?;
    let pid = owner.and_then(|owner| Pid::from_raw(i32::try_from(owner.pid).ok()?));
    let Some(pid) = pid else {
        return Err(FlowError::NotFound(format!("nobody is at run {id}; there is nothing to stop")).into());
    };
    kill_process(pid, Signal::TERM).context("cannot reach the process that is at it")?;
    style::talk(&format!("asked process {pid} to stop"));
    Ok(exit::DONE)
}
