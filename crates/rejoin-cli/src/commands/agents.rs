use clap::Args;
use rejoin::AgentReport;
use unicode_width::UnicodeWidthStr;

use crate::pager::PagerArgs;
use crate::screen::label;
use crate::table::{fitted, width_for_a_person};
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
    /// Where details begin: beside the names, if the terminal is wide, else below them.
    const BESIDE: usize = 11;
    const BELOW: usize = 2;
    const WIDE: usize = 60;
    let columns = width_for_a_person();
    let indent = if columns >= WIDE { BESIDE } else { BELOW };
    let mut out = String::new();
    let Some(can) = &report.capabilities else {
        out += &fitted(&format!("○ {:<8} {} is not installed", report.agent, report.title), BELOW);
        // Where it fits in a line it can be copied.
        let room = columns.checked_sub(report.install.width()).unwrap_or(indent);
        out += &fitted(&format!("{:1$}{2}", "", indent.min(room), report.install), indent + 2);
        return out + "\n";
    };
    let version = label(can.version.as_deref().unwrap_or("version unknown"));
    out += &fitted(&format!("● {:<8} {} {version}", report.agent, report.title), BELOW);
    for (what, path) in [("command", &report.path), ("sessions", &report.store)] {
        if let Some(path) = path {
            let path = label(&style::home_path(path));
            out += &fitted(&format!("{:indent$}{what:<8}  {path}", ""), indent + 2);
        }
    }
    let abilities = [
        ("resume", can.resume),
        ("fork", can.fork),
        ("ephemeral", can.ephemeral),
        ("choose id", can.choose_id),
        ("ask", can.ask),
    ];
    // A mark and its words stay together.
    let mark =
        |(name, yes): &(&str, bool)| format!("{}_{}", if *yes { "✓" } else { "✗" }, name.replace(' ', "_"));
    let marks = abilities.iter().map(mark).collect::<Vec<_>>().join("  ");
    out += &fitted(&format!("{:indent$}{marks}", ""), indent).replace('_', " ");
    out + "\n"
}
