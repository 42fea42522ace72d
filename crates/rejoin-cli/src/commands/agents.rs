use std::fmt::Write as _;

use clap::Args;
use rejoin::AgentReport;

use crate::pager::PagerArgs;
use crate::screen::label;
use crate::{exit, screen, style};

#[derive(Args)]
pub(crate) struct AgentsArgs {
    #[command(flatten)]
    pub(crate) pager: PagerArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `rejoin agents`
pub(crate) fn agents(args: &AgentsArgs) -> anyhow::Result<i32> {
    let agents = super::open()?.agents();
    if args.json {
        screen::json(&agents)?;
    } else {
        args.pager.print(&agents.iter().map(paragraph).collect::<String>().into())?;
    }
    Ok(exit::DONE)
}

fn paragraph(report: &AgentReport) -> String {
    let mut out = String::new();
    let Some(can) = &report.capabilities else {
        let _ = writeln!(
            out,
            "○ {:<8} {} is not installed\n           {}\n",
            report.agent, report.title, report.install
        );
        return out;
    };
    let version = label(can.version.as_deref().unwrap_or("version unknown"));
    let _ = writeln!(out, "● {:<8} {} {version}", report.agent, report.title);
    if let Some(path) = &report.path {
        let _ = writeln!(out, "           command   {}", label(&style::home_path(path)));
    }
    if let Some(store) = &report.store {
        let _ = writeln!(out, "           sessions  {}", label(&style::home_path(store)));
    }
    let abilities = [
        ("resume", can.resume),
        ("fork", can.fork),
        ("ephemeral", can.ephemeral),
        ("choose id", can.choose_id),
        ("ask", can.ask),
    ];
    let mark = |(name, yes): &(&str, bool)| format!("{} {name}", if *yes { "✓" } else { "✗" });
    let _ = writeln!(out, "           {}\n", abilities.iter().map(mark).collect::<Vec<_>>().join("  "));
    out
}
