use rejoin_flow::Overview;

use crate::cli::FlowLsArgs;
use crate::commands::{open, print};
use crate::{exit, style};

/// `rejoin flow ls`
pub(super) fn ls(args: &FlowLsArgs) -> anyhow::Result<i32> {
    let runs = rejoin_flow::runs(open()?.home())?;
    if args.json {
        print(&(serde_json::to_string_pretty(&runs)? + "\n"))?;
        return Ok(exit::DONE);
    }
    if runs.is_empty() {
        style::talk("no flow was run yet; begin with `rejoin flow run FILE`");
    }
    print(&runs.iter().map(line).collect::<String>())?;
    Ok(exit::DONE)
}

fn line(run: &Overview) -> String {
    format!(
        "{}  {:<24}  {:<11}  {:>13}  {:>14}  {}\n",
        &run.id.simple().to_string()[..8],
        style::one_line(&run.flow, 24),
        run.standing.name(),
        format!("{} done", style::plural(run.done, "step")),
        style::since(&run.time),
        style::home_path(&run.dir),
    )
}
