//! `--dry-run`: the plan, nothing done.

use std::fmt::Write as _;

use rejoin::{Decision, DryRun, Rejoin};

use crate::commands::turn_args::Output;
use crate::screen::{self, label};
use crate::table::fitted;
use crate::turn_words::{Headline, Stage, decision};
use crate::{exit, style};

/// Shows everything that would be done.
pub(crate) fn show(rejoin: &Rejoin, plan: &DryRun, output: Output) -> anyhow::Result<i32> {
    if output == Output::Text {
        let mut out = String::new();
        let headline = Headline {
            agent: plan.agent.to_string(),
            plan: plan.plan.clone(),
            number: plan.turn_number,
            bytes: plan.bytes,
            conversation: plan.conversation,
            others: Headline::tells_of_others(&plan.plan)
                && plan.conversation.is_some_and(|id| rejoin.turns(id).is_ok_and(|turns| turns > 0)),
        };
        style::talk(&headline.line(Stage::Would));
        for warning in &plan.warnings {
            style::loud(&format!("! {warning}"));
        }
        let decided = match &plan.plan {
            // All of the id: it is what the agent is asked for.
            Decision::Resume { session, .. } => format!("would resume {}", label(session)),
            other => decision(other, Stage::Would),
        };
        let argv: Vec<String> = plan.argv.iter().map(|arg| quoted(arg)).collect();
        out += &fitted(&format!("decision   {decided}"), 4);
        out += &fitted(&format!("directory  {}", label(&plan.cwd)), 4);
        // In one piece, to be copied.
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
