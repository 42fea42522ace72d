use std::fmt::Write as _;

use clap::Args;
use rejoin::{AgentCheckup, Finding};

use crate::screen::label;
use crate::{exit, screen, style};

#[derive(Args)]
pub(crate) struct DoctorArgs {
    /// Spend two tiny turns on each agent to prove that the second remembers the first
    #[arg(long)]
    pub(crate) turn: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `rejoin doctor`
pub(crate) fn doctor(args: &DoctorArgs) -> anyhow::Result<i32> {
    let checkups = super::open()?.doctor(args.turn);
    if args.json {
        screen::json(&checkups)?;
    } else {
        screen::print(checkups.iter().map(paragraph).collect::<String>())?;
        if !args.turn {
            style::talk(
                "no turn was spent; `rejoin doctor --turn` proves the memory of each agent with two tiny ones",
            );
        }
    }
    let broken = checkups.iter().any(|checkup| checkup.worst() == Finding::Broken);
    Ok(if broken { exit::AGENT_FAILED } else { exit::DONE })
}

fn mark(finding: Finding) -> &'static str {
    match finding {
        Finding::Fine => "✓",
        Finding::Note => "!",
        Finding::Broken => "✗",
    }
}

fn paragraph(checkup: &AgentCheckup) -> String {
    let mut out = format!("{} {} ({})\n", mark(checkup.worst()), checkup.title, checkup.agent);
    for check in &checkup.checks {
        let _ = writeln!(out, "    {} {:<8} {}", mark(check.finding), check.name, label(&check.text));
        if !check.next.is_empty() {
            let _ = writeln!(out, "               → {}", label(&check.next));
        }
    }
    out.push('\n');
    out
}
