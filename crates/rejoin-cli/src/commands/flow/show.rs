use std::fmt::Write as _;

use clap::Args;
use rejoin_flow::{Ended, Run, Standing};

use super::step_output;
use crate::commands::{here, open};
use crate::pager::PagerArgs;
use crate::screen::{self, Painted, Style, label};
use crate::table::{fitted, for_a_person};
use crate::{exit, style};

#[derive(Args)]
pub(crate) struct FlowShowArgs {
    /// Id or its beginning, @ (the newest of this project)
    #[arg(default_value = "@", hide_default_value = true)]
    pub(crate) run: String,
    /// Print outputs as they came also on a terminal: headings, tables and code are not rendered
    #[arg(long, conflicts_with = "json")]
    pub(crate) plain: bool,
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
        args.pager.print(&text(&run, for_a_person() && !args.plain))?;
    }
    Ok(exit::DONE)
}

fn text(run: &Run, rendered: bool) -> Painted {
    let mut out = Painted::default();
    let since = label(&style::since(&run.begun.time));
    let how = format!(" · {} · {} · {since}", run.begun.id, run.standing.name());
    head(&run.begun.flow, &how, &mut out);
    for (name, value) in &run.begun.inputs {
        let input = format!("  {} = {}", label(name), style::one_line(&value.to_string(), 100));
        out.text(&fitted(&input, 4));
    }
    for line in &run.damaged {
        let damaged = format!("  line {line} of its file is damaged: what it said is lost");
        out.text(&fitted(&damaged, 4));
    }
    for ended in &run.steps.results {
        out.text("\n");
        paragraph(ended, rendered, &mut out);
    }
    let how = if run.standing == Standing::Running { "running" } else { "cut" };
    for open in &run.steps.open {
        out.text("\n");
        let attempt = if open.attempt > 1 { format!(" · try {}", open.attempt) } else { String::new() };
        let since = label(&style::since(&open.time));
        head(&open.key.to_string(), &format!(" · {how}{attempt} · begun {since}"), &mut out);
    }
    out
}

/// What catches the eye, and what is told of it.
fn head(name: &str, told: &str, out: &mut Painted) {
    let name = label(name);
    for line in fitted(&format!("{name}{told}"), 4).lines() {
        // A name that does not fit in a line is no longer found at its beginning.
        let rest = line.strip_prefix(&name);
        out.style(Style::ACCENT.when(style::stdout_colour()), rest.map_or("", |_| &name));
        out.text(&format!("{}\n", rest.unwrap_or(line)));
    }
}

fn paragraph(ended: &Ended, rendered: bool, out: &mut Painted) {
    let mut told = format!(" · {}", ended.state.name());
    if ended.milliseconds > 0 {
        let _ = write!(told, " · {}", style::elapsed(ended.milliseconds));
    }
    if let Some(receipt) = &ended.receipt {
        let _ = write!(told, " · {}", label(receipt.agent.as_str()));
        if let Some(session) = &receipt.session {
            let how = if receipt.plan.resumes() { "resumed" } else { "session" };
            let _ = write!(told, " · {how} {}", label(session.as_str()));
        }
        if let Some(conversation) = receipt.conversation {
            let _ = write!(told, " · conversation {}", conversation.short());
        }
    }
    head(&ended.key.to_string(), &told, out);
    if let Some(error) = &ended.error {
        out.text(&fitted(&format!("  {}", screen::set_off(error)), 4));
    }
    let shown = shortened(ended.output.lines().take(LINES));
    if rendered {
        out.append(&step_output::rendered(ended, &shown, 2));
    } else {
        shown.lines().for_each(|line| out.text(&format!("  {line}\n")));
    }
    let left_out = ended.output.lines().skip(LINES).count();
    if left_out > 0 {
        let _ = writeln!(out, "  … {} more; --json has all", style::plural(left_out, "line"));
    }
}

/// Lines of an output, the long ones cut.
fn shortened<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let mut out = String::new();
    for line in lines {
        let _ = match line.char_indices().nth(LINE) {
            Some((end, _)) => writeln!(out, "{}… [{} bytes left out]", &line[..end], line.len() - end),
            None => writeln!(out, "{line}"),
        };
    }
    out
}
