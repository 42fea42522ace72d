use clap::Args;
use rejoin_flow::{Overview, Standing, short_run_id};

use crate::commands::open;
use crate::{exit, screen, style};

#[derive(Args)]
pub(crate) struct FlowLsArgs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `rejoin flow ls`
pub(super) fn ls(args: &FlowLsArgs) -> anyhow::Result<i32> {
    let runs = rejoin_flow::runs(&open()?)?;
    if args.json {
        screen::json(&runs)?;
        return Ok(exit::DONE);
    }
    if runs.is_empty() {
        style::talk("no flow was run yet; begin with `rejoin flow run FILE`");
    }
    screen::print(runs.iter().map(line).collect::<String>())?;
    Ok(exit::DONE)
}

fn line(run: &Overview) -> String {
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
