use clap::Args;
use rejoin_flow::{Overview, Standing, short_run_id};

use crate::commands::{open, project_here};
use crate::pager::PagerArgs;
use crate::table::{Column, for_a_person, lay_out, width};
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
    let lines = if for_a_person() {
        table(&runs.iter().collect::<Vec<_>>(), width(), !runs.is_empty())
    } else {
        runs.iter().map(line).collect()
    };
    args.pager.print(&lines.into())?;
    Ok(exit::DONE)
}

/// The same in a table of this width: what there is no room for is left out.
pub(super) fn table(runs: &[&Overview], width: usize, header: bool) -> String {
    let column = |title, right, spare, cell: &dyn Fn(&Overview) -> String| Column {
        title,
        right,
        spare,
        cells: runs.iter().map(|run| cell(run)).collect(),
    };
    let columns = vec![
        column("run", false, 0, &|run| short_run_id(run.id)),
        column("flow", false, 0, &|run| flow_and_place(run).0.to_owned()),
        column("state", false, 0, &|run| run.standing.name().to_owned()),
        column("steps", true, 1, &|run| format!("{} done", run.done)),
        column("begun", true, 2, &|run| style::since(&run.time)),
        column("directory", false, 3, &|run| style::home_path(flow_and_place(run).1)),
    ];
    lay_out(columns, "flow", width, header)
}

/// What is run, and where; of one that lost its beginning, its file.
fn flow_and_place(run: &Overview) -> (&str, &str) {
    match run.standing {
        Standing::Damaged => ("?", &run.file),
        _ => (&run.flow, &run.dir),
    }
}

fn line(run: &Overview) -> String {
    let (flow, place) = flow_and_place(run);
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
