use anyhow::Context;
use rejoin_flow::FlowError;

use crate::cli::FlowCancelArgs;
use crate::commands::open;
use crate::{exit, style};

/// `rejoin flow cancel`: asks the process that holds the run's lock to stop.
pub(super) fn cancel(args: &FlowCancelArgs) -> anyhow::Result<i32> {
    let rejoin = open()?;
    let id = rejoin_flow::find(&rejoin, &args.run)?.begun.id;
    let Some(owner) = rejoin_flow::holder(&rejoin, id)? else {
        return Err(FlowError::NotFound(format!("nobody is at run {id}; there is nothing to stop")).into());
    };
    // Its number alone may be somebody else's by now.
    let Some(process) = owner.process() else {
        let words =
            format!("run {id} is held by {owner}: that is not surely the process to stop; end it yourself");
        return Err(FlowError::Busy(words).into());
    };
    process.terminate().context("cannot reach the process that is at it")?;
    style::talk(&format!("asked process {} to stop", process.pid()));
    Ok(exit::DONE)
}
