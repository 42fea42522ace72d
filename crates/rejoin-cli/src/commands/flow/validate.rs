use std::path::PathBuf;

use clap::Args;
use rejoin_flow::Source;

use crate::{exit, screen, style};

#[derive(Args)]
pub(crate) struct FlowFileArgs {
    /// The flow
    pub(crate) file: PathBuf,
}

/// `rejoin flow validate`
pub(super) fn validate(args: &FlowFileArgs) -> anyhow::Result<i32> {
    let (_, flow) = Source::open(&args.file)?;
    style::talk(&format!("✓ {}: {}", flow.name, style::plural(flow.all_steps().len(), "step")));
    Ok(exit::DONE)
}

/// `rejoin flow graph`
pub(super) fn graph(args: &FlowFileArgs) -> anyhow::Result<i32> {
    let (_, flow) = Source::open(&args.file)?;
    screen::data(&flow.mermaid())?;
    Ok(exit::DONE)
}

/// `rejoin flow schema`
pub(super) fn schema() -> anyhow::Result<i32> {
    screen::json(&rejoin_flow::schema())?;
    Ok(exit::DONE)
}
