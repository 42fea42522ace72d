use clap::Args;
use rejoin_flow::{Overview, Standing, short_run_id};

use crate::commands::{open, project_here};
use crate::pager::PagerArgs;
use crate::{exit, screen, style};

#[derive(Args)]
pub(crate) struct FlowLsArgs {
    /// List the runs of all projects
    #[arg(short = 'A', long)]
    pub(crate) all_projects: bool,
    #[command(flatten)]
    pub(crate) pager: PagerArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `rejoin flow ls`
pub(super) fn ls(args: &FlowLsArgs) -> anyhow::Result<i32> {
    let runs = rejoin_flow::runs(&open()?, project_here(args.all_projects)?.as_deref())?;
    if args.json {
        screen::json(&runs)?;
        return Ok(exit::DONE);
    }
    if runs.is_empty() {
        let (place, more) = if args.all_projects { ("", "") } else { (" here", "; `-A` lists all projects") };
        style::talk(&format!("no flow was run{place} yet; begin with `rejoin flow run FILE`{more}"));
    }
    args.pager.print(&runs.iter().map(line).collect::<String>().into())?;
    Ok(exit::DONE)
}

pub(super) fn line(run: &Overview) -> String {
    let (flow, place) = match run.standing {
        Standing::Damaged => ("?", &run.file),
        _ => (run.flow.as_str(), &run.dir),
    };
    format!(
        "{}  {:<24}  {:<11}  {:>13}  {:>14}  {}\n",
        short_run_id(run.id),
        style::cut(flow, 24),
        run.standing.name(),
        format!("{} done", style::plural(run.done, "step")),
        screen::label(&style::since(&run.time)),
        screen::label(&style::home_path(place)),
    )
}
