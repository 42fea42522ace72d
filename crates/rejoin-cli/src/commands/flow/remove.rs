use std::time::Duration;

use clap::Args;
use rejoin_flow::{FlowError, Overview, RunStart, short_run_id};

use super::ls::line;
use crate::commands::remove::may_delete;
use crate::commands::{here, open, project_here};
use crate::{exit, screen, style};

#[derive(Args)]
pub(crate) struct FlowRmArgs {
    /// Id or its beginning, @ (the newest of this project)
    #[arg(required = true)]
    pub(crate) runs: Vec<String>,
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
}

#[derive(Args)]
pub(crate) struct FlowPruneArgs {
    /// Those in which nothing was done for so long (90d, 12w, 6h)
    #[arg(long, value_name = "TIME", value_parser = rejoin::parse_duration)]
    pub(crate) older_than: Duration,
    /// Of all projects, not only this one
    #[arg(short = 'A', long)]
    pub(crate) all_projects: bool,
    /// Show what would be deleted
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
}

/// `rejoin flow rm`
pub(super) fn rm(args: &FlowRmArgs) -> anyhow::Result<i32> {
    let (rejoin, here) = (open()?, here()?);
    let mut runs: Vec<Overview> = Vec::new();
    for text in &args.runs {
        let id = rejoin_flow::find_id(&rejoin, &here, text)?;
        if runs.iter().all(|known| known.id != id) {
            runs.extend(RunStart::of(&rejoin, id)?.overview(&rejoin)?);
        }
    }
    delete(&rejoin, &runs, args.yes)
}

/// `rejoin flow prune`
pub(super) fn prune(args: &FlowPruneArgs) -> anyhow::Result<i32> {
    let rejoin = open()?;
    let project = project_here(args.all_projects)?;
    let runs = rejoin_flow::prunable(&rejoin, project.as_deref(), args.older_than)?;
    if runs.is_empty() {
        style::talk("nothing is that old");
        return Ok(exit::DONE);
    }
    if args.dry_run {
        screen::print(runs.iter().map(line).collect::<String>())?;
        return Ok(exit::DONE);
    }
    delete(&rejoin, &runs, args.yes)
}

fn delete(rejoin: &rejoin::Rejoin, runs: &[Overview], yes: bool) -> anyhow::Result<i32> {
    let what = style::plural(runs.len(), "run");
    let lines: Vec<String> = runs.iter().map(line).collect();
    if !yes && !may_delete(&what, &lines, "the conversations of their steps stay")? {
        return Ok(exit::CANCELLED);
    }
    let mut code = exit::DONE;
    for run in runs {
        let id = short_run_id(run.id);
        match rejoin_flow::remove(rejoin, run.id) {
            Ok(()) => style::talk(&format!("deleted {id}")),
            // It goes on: not what was meant.
            Err(error @ FlowError::Busy(_)) => {
                style::loud(&format!("! kept {id}: {error}"));
                code = exit::BUSY;
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(code)
}
