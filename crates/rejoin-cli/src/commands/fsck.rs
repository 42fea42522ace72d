use std::fmt::Write as _;

use clap::Args;
use rejoin::JournalCheck;

use crate::pager::PagerArgs;
use crate::screen::label;
use crate::table::fitted;
use crate::{exit, screen, style};

#[derive(Args)]
pub(crate) struct FsckArgs {
    /// Id, unique prefix, name, @ (the newest here), @~1 [default: all of this project]
    #[arg(conflicts_with = "all_projects")]
    pub(crate) conversation: Option<String>,
    /// The conversations of all projects
    #[arg(short = 'A', long, alias = "all")]
    pub(crate) all_projects: bool,
    /// Repair what can be repaired by appending; nothing is ever rewritten
    #[arg(long)]
    pub(crate) repair: bool,
    #[command(flatten)]
    pub(crate) pager: PagerArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `rejoin fsck`
pub(crate) fn fsck(args: &FsckArgs) -> anyhow::Result<i32> {
    let rejoin = super::open()?;
    let here = super::here()?;
    let ids = match &args.conversation {
        Some(text) => vec![rejoin.view(&here, text)?.id()],
        None => rejoin.ids(if args.all_projects { None } else { Some(&here) })?,
    };
    let checked: Vec<JournalCheck> =
        ids.into_iter().map(|id| rejoin.check(id, args.repair)).collect::<Result<_, _>>()?;
    let sound = checked.iter().filter(|checked| checked.sound).count();
    if args.json {
        screen::sorted_json(&checked)?;
    } else {
        let unsound = checked.iter().filter(|checked| checked.count > 0);
        args.pager.print(&unsound.map(paragraph).collect::<String>().into())?;
        style::talk(&format!("{} checked, {sound} sound", style::plural(checked.len(), "conversation")));
    }
    Ok(if sound == checked.len() { exit::DONE } else { exit::DAMAGED })
}

fn paragraph(checked: &JournalCheck) -> String {
    let mut out = format!("{}  {} readable\n", checked.id.short(), style::plural(checked.turns, "turn"));
    for noted in &checked.problems {
        out += &fitted(&format!("  {}", label(&noted.to_string())), 6);
    }
    let more = checked.count.saturating_sub(checked.problems.len() as u64);
    if more > 0 {
        let _ = writeln!(out, "  … and {more} more");
    }
    for repaired in &checked.repaired {
        out += &fitted(&format!("  repaired: {}", label(repaired)), 6);
    }
    out
}
