//! `--dry-run`: the plan, nothing done.

use std::fmt::Write as _;

use rejoin::{Decision, DryRun, Rejoin};

use crate::commands::turn_args::Output;
use crate::screen::{self, label};
use crate::turn_printer::headline;
use crate::{exit, style};

/// Shows everything that would be done.
pub(crate) fn show(rejoin: &Rejoin, plan: &DryRun, output: Output) -> anyhow::Result<i32> {
    if output == Output::Text {
        let mut out = String::new();
        let has_turns = |id| rejoin.turns(id).is_ok_and(|turns| turns > 0);
        style::talk(&headline(
            plan.agent.as_str(),
            &plan.plan,
            plan.turn_number,
            plan.bytes,
            plan.conversation,
            &has_turns,
        ));
        for warning in &plan.warnings {
            style::loud(&format!("! {warning}"));
        }
        let decision = match &plan.plan {
            Decision::Resume { session, .. } => format!("resume {}", label(session)),
            Decision::Fresh { why, .. } => format!("fresh ({})", why.name()),
        };
        let argv: Vec<String> = plan.argv.iter().map(|arg| quoted(arg)).collect();
        let _ = writeln!(out, "decision   {decision}");
        let _ = writeln!(out, "directory  {}", label(&plan.cwd));
        let _ = writeln!(out, "command    {}", label(&argv.join(" ")));
        for name in &plan.env {
            let _ = writeln!(out, "env        {}", label(name));
        }
        let _ = writeln!(out, "stdin      {}", style::bytes(plan.bytes));
        for attachment in &plan.attachments {
            let _ = writeln!(out, "attached   {}", style::attachment(attachment));
        }
        out.push_str("nothing was run\n");
        screen::print(out)?;
    } else {
        screen::json(plan)?;
    }
    Ok(exit::DONE)
}

/// A word as a shell would need it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
