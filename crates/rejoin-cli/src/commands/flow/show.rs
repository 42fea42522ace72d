use std::fmt::Write as _;

use clap::Args;
use rejoin_flow::{Ended, Run, Standing};

use crate::commands::{here, open};
use crate::pager::PagerArgs;
use crate::screen::{self, Painted, Style, label};
use crate::{exit, style};

#[derive(Args)]
pub(crate) struct FlowShowArgs {
    /// Id or its beginning, @ (the newest of this project)
    #[arg(default_value = "@", hide_default_value = true)]
    pub(crate) run: String,
    #[command(flatten)]
    pub(crate) pager: PagerArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// So much is shown of an output: lines, and characters of each.
const LINES: usize = 20;
const LINE: usize = 1000;

/// `rejoin flow show`
pub(super) fn show(args: &FlowShowArgs) -> anyhow::Result<i32> {
    let run = rejoin_flow::find(&open()?, &here()?, &args.run)?;
    if args.json {
        screen::json(&run)?;
    } else {
        args.pager.print(&text(&run))?;
    }
    Ok(exit::DONE)
}

fn text(run: &Run) -> Painted {
    let mut out = Painted::default();
    accent(&mut out, &run.begun.flow);
    let since = label(&style::since(&run.begun.time));
    let _ = writeln!(out, " · {} · {} · {since}", run.begun.id, run.standing.name());
    for (name, value) in &run.begun.inputs {
        let _ = writeln!(out, "  {} = {}", label(name), style::one_line(&value.to_string(), 100));
    }
    for line in &run.damaged {
        let _ = writeln!(out, "  line {line} of its file is damaged: what it said is lost");
    }
    for ended in &run.steps.results {
        paragraph(ended, &mut out);
    }
    let how = if run.standing == Standing::Running { "running" } else { "cut" };
    for open in &run.steps.open {
        out.text("\n");
        accent(&mut out, &open.key.to_string());
        let _ = write!(out, " · {how}");
        if open.attempt > 1 {
            let _ = write!(out, " · try {}", open.attempt);
        }
        let _ = writeln!(out, " · begun {}", label(&style::since(&open.time)));
    }
    out
}

fn accent(out: &mut Painted, text: &str) {
    out.style(Style::ACCENT.when(style::colour()), &label(text));
}

fn paragraph(ended: &Ended, out: &mut Painted) {
    out.text("\n");
    accent(out, &ended.key.to_string());
    let _ = write!(out, " · {}", ended.state.name());
    if ended.milliseconds > 0 {
        let _ = write!(out, " · {}", style::elapsed(ended.milliseconds));
    }
    if let Some(receipt) = &ended.receipt {
        let _ = write!(out, " · {}", label(receipt.agent.as_str()));
        if let Some(session) = &receipt.session {
            let how = if receipt.plan.resumes() { "resumed" } else { "session" };
            let _ = write!(out, " · {how} {}", label(session.as_str()));
        }
        if let Some(conversation) = receipt.conversation {
            let _ = write!(out, " · conversation {}", conversation.short());
        }
    }
    out.text("\n");
    if let Some(error) = &ended.error {
        let _ = writeln!(out, "  {}", screen::set_off(error));
    }
    let mut lines = ended.output.lines();
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
}
