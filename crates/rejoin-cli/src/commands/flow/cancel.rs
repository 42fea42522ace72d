use clap::Args;

use crate::commands::{here, open};
use crate::{exit, style};

#[derive(Args)]
pub(crate) struct FlowCancelArgs {
    /// Id or its beginning, @ (the newest of this project)
    pub(crate) run: String,
}

/// `rejoin flow cancel`: asks the process that holds the run's lock to stop.
pub(super) fn cancel(args: &FlowCancelArgs) -> anyhow::Result<i32> {
    let rejoin = open()?;
    let id = rejoin_flow::find(&rejoin, &here()?, &args.run)?.begun.id;
    let pid = rejoin_flow::cancel(&rejoin, id)?;
    style::talk(&format!("asked process {pid} to stop"));
    Ok(exit::DONE)
}
