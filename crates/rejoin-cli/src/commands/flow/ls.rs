use rejoin_flow::{Run, State};
use serde_json::json;

use crate::cli::FlowLsArgs;
use crate::commands::{open, print};
use crate::{exit, style};

/// `rejoin flow ls`
pub(super) fn ls(args: &FlowLsArgs) -> anyhow::Result<i32> {
    let runs = rejoin_flow::runs(open()?.home())?;
    if args.json {
        let list: Vec<_> = runs.iter().map(as_json).collect();
        print(&(serde_json::to_string_pretty(&list)? + "\n"))?;
        return Ok(exit::DONE);
    }
    if runs.is_empty() {
        style::talk("no flow was run yet; begin with `rejoin flow run FILE`");
    }
    print(&runs.iter().map(line).collect::<String>())?;
    Ok(exit::DONE)
}

fn done(run: &Run) -> usize {
    run.steps.results.iter().filter(|ended| ended.key.index.is_none() && ended.state == State::Done).count()
}

fn line(run: &Run) -> String {
    format!(
        "{}  {:<24}  {:<11}  {:>13}  {:>14}  {}\n",
        &run.begun.id.simple().to_string()[..8],
        style::one_line(&run.begun.flow, 24),
        run.standing.name(),
        format!("{} done", style::plural(done(run), "step")),
        style::since(&run.begun.time),
        style::home_path(&run.begun.dir),
    )
}

fn as_json(run: &Run) -> serde_json::Value {
    json!({
        "id": run.begun.id,
        "flow": run.begun.flow,
        "file": run.begun.source.file,
        "dir": run.begun.dir,
        "time": run.begun.time,
        "standing": run.standing,
        "done": done(run),
    })
}
