use std::fmt::Write as _;

use rejoin_flow::{Ended, Run};

use crate::cli::FlowShowArgs;
use crate::commands::{open, print};
use crate::{exit, style};

/// `rejoin flow show`
pub(super) fn show(args: &FlowShowArgs) -> anyhow::Result<i32> {
    let run = rejoin_flow::find(open()?.home(), &args.run)?;
    if args.json {
        print(&(serde_json::to_string_pretty(&run)? + "\n"))?;
    } else {
        print(&text(&run))?;
    }
    Ok(exit::DONE)
}

fn text(run: &Run) -> String {
    let mut out = format!(
        "{} · {} · {} · {}\n",
        style::accent(&run.begun.flow),
        run.begun.id,
        run.standing.name(),
        style::since(&run.begun.time)
    );
    for (name, value) in &run.begun.inputs {
        let _ = writeln!(out, "  {name} = {}", style::one_line(&value.to_string(), 100));
    }
    for ended in &run.steps.results {
        out.push_str(&paragraph(ended));
    }
    out
}

fn paragraph(ended: &Ended) -> String {
    let mut out = format!("\n{} · {}", style::accent(&ended.key.to_string()), ended.state.name());
    if ended.milliseconds > 0 {
        let _ = write!(out, " · {}", style::elapsed(ended.milliseconds));
    }
    if let Some(receipt) = &ended.receipt {
        let _ = write!(out, " · {}", receipt.agent);
        if let Some(session) = &receipt.session {
            let how = if receipt.plan.resumes() { "resumed" } else { "session" };
            let _ = write!(out, " · {how} {session}");
        }
        if let Some(conversation) = receipt.conversation {
            let _ = write!(out, " · conversation {}", conversation.short());
        }
    }
    out.push('\n');
    if let Some(error) = &ended.error {
        let _ = writeln!(out, "  {}", rejoin::printable(error));
    }
    for line in rejoin::printable(&ended.output).lines().take(20) {
        let _ = writeln!(out, "  {line}");
    }
    out
}
