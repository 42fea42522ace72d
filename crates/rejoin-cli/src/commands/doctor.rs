use clap::Args;
use rejoin::{AgentCheck, AgentCheckup, Finding};

use crate::pager::PagerArgs;
use crate::screen::label;
use crate::table::fitted;
use crate::{exit, screen, style};

#[derive(Args)]
pub(crate) struct DoctorArgs {
    /// Spend two tiny turns on each agent to prove that the second remembers the first
    #[arg(long)]
    pub(crate) turn: bool,
    #[command(flatten)]
    pub(crate) pager: PagerArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `rejoin doctor`
pub(crate) fn doctor(args: &DoctorArgs) -> anyhow::Result<i32> {
    let rejoin = super::open()?;
    let (checkups, home) = (rejoin.doctor(args.turn), rejoin.check_home());
    if args.json {
        let agents = checkups.iter().map(serde_json::to_value);
        screen::json(&agents.chain([serde_json::to_value(&home)]).collect::<Result<Vec<_>, _>>()?)?;
    } else {
        let place = style::home_path(&home.home.display().to_string());
        let mut out: String = checkups.iter().map(paragraph).collect();
        out += &points(&format!("{} rejoin's home ({})", mark(home.worst()), label(&place)), &home.checks);
        args.pager.print(&out.into())?;
        if !args.turn {
            style::talk(
                "no turn was spent; `rejoin doctor --turn` proves the memory of each agent with two tiny ones",
            );
        }
    }
    let mut findings = checkups.iter().map(AgentCheckup::worst).chain([home.worst()]);
    let broken = findings.any(|finding| finding == Finding::Broken);
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
    points(&format!("{} {} ({})", mark(checkup.worst()), checkup.title, checkup.agent), &checkup.checks)
}

/// What was found, point by point.
fn points(title: &str, checks: &[AgentCheck]) -> String {
    /// Where the texts begin.
    const BESIDE: usize = 15;
    let mut out = fitted(title, 2);
    for check in checks {
        let line = format!("    {} {:<8} {}", mark(check.finding), check.name, label(&check.text));
        out += &fitted(&line, BESIDE);
        if !check.next.is_empty() {
            out += &fitted(&format!("{:BESIDE$}→ {}", "", label(&check.next)), BESIDE + 2);
        }
    }
    out.push('\n');
    out
}
