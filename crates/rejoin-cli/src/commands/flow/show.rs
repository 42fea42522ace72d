use std::fmt::Write as _;

use rejoin_flow::{Ended, Run, Standing};

use crate::cli::FlowShowArgs;
use crate::commands::{open, print};
use crate::{exit, style};

/// So much is shown of an output: lines, and characters of each.
const LINES: usize = 20;
const LINE: usize = 1000;

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
    for line in &run.damaged {
        let _ = writeln!(out, "  line {line} of its file is damaged: what it said is lost");
    }
    for ended in &run.steps.results {
        out.push_str(&paragraph(ended));
    }
    let how = if run.standing == Standing::Running { "running" } else { "cut" };
    for open in &run.steps.open {
        let _ = write!(out, "\n{} · {how}", style::accent(&open.key.to_string()));
        if open.attempt > 1 {
            let _ = write!(out, " · try {}", open.attempt);
        }
        let _ = writeln!(out, " · begun {}", style::since(&open.time));
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
    let output = rejoin::printable(&ended.output);
    let mut lines = output.lines();
    for line in lines.by_ref().take(LINES) {
        let _ = match line.char_indices().nth(LINE) {
            Some((end, _)) => writeln!(out, "  {}… [{} bytes left out]", &line[..end], line.len() - end),
            None => writeln!(out, "  {line}"),
        };
    }
    let left_out = lines.count();
    if left_out > 0 {
        let _ = writeln!(out, "  … {} more; --json has all", style::plural(left_out, "line"));
    }
    out
}
