use std::time::Duration;

use clap::Args;
use rejoin::Rejoin;
use rejoin_flow::{Overview, RunStart, short_run_id};

use super::ls::table;
use crate::commands::delete::{self, Deletable, PruneHow};
use crate::commands::{here, open, project_here};

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
    #[command(flatten)]
    pub(crate) how: PruneHow,
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
    delete::delete(deletable(&rejoin, runs), args.yes)
}

/// `rejoin flow prune`
pub(super) fn prune(args: &FlowPruneArgs) -> anyhow::Result<i32> {
    let rejoin = open()?;
    let project = project_here(args.all_projects)?;
    let runs = rejoin_flow::prunable(&rejoin, project.as_deref(), args.older_than)?;
    delete::prune(deletable(&rejoin, runs), &args.how)
}

fn deletable(rejoin: &Rejoin, runs: Vec<Overview>) -> Vec<StoredRun<'_>> {
    runs.into_iter().map(|overview| StoredRun { rejoin, overview }).collect()
}

/// A run, and where it is kept.
struct StoredRun<'a> {
    rejoin: &'a Rejoin,
    overview: Overview,
}

impl Deletable for StoredRun<'_> {
    const NAME: &'static str = "run";
    const STAYS: &'static str = "the conversations of their steps stay";

    fn short_id(&self) -> String {
        short_run_id(self.overview.id)
    }

    fn lines(things: &[Self], width: usize) -> String {
        table(&things.iter().map(|run| &run.overview).collect::<Vec<_>>(), width, false)
    }

    fn delete(self) -> anyhow::Result<()> {
        Ok(rejoin_flow::remove(self.rejoin, self.overview.id)?)
    }
}
