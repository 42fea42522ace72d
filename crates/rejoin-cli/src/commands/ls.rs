use std::time::UNIX_EPOCH;

use rejoin::{ConversationId, Summary, TurnState};
use serde_json::json;

use super::choose::choose;
use crate::cli::{LsArgs, ShowArgs};
use crate::{exit, style};

/// `rejoin ls`
pub(crate) fn ls(args: &LsArgs) -> anyhow::Result<i32> {
    if args.interactive {
        return choose(lines(args.all_projects)?, &ShowArgs::default());
    }
    let rejoin = super::open()?;
    let here = super::here()?;
    let list = rejoin.conversations(if args.all_projects { None } else { Some(&here) })?;
    if args.json {
        let list: Vec<_> = list.iter().map(as_json).collect();
        super::print(&(serde_json::to_string_pretty(&list)? + "\n"))?;
        return Ok(exit::DONE);
    }
    if list.is_empty() {
        style::talk("no conversation here yet; begin one with `rejoin run \"…\"`");
    }
    let mut out = String::new();
    for summary in &list {
        out.push_str(&line(summary, args.all_projects));
    }
    super::print(&out)?;
    Ok(exit::DONE)
}

/// The conversations of this project, or of all, each with its line.
pub(super) fn lines(all_projects: bool) -> anyhow::Result<Vec<(ConversationId, String)>> {
    let here = super::here()?;
    let list = super::open()?.conversations(if all_projects { None } else { Some(&here) })?;
    Ok(list.iter().map(|summary| (summary.id, line(summary, all_projects))).collect())
}

fn state(summary: &Summary) -> &'static str {
    if summary.running {
        return "running";
    }
    match summary.conversation.tree.head().map(rejoin::Turn::state) {
        Some(TurnState::Failed) => "failed",
        Some(TurnState::Cut) => "interrupted",
        _ => "idle",
    }
}

fn line(summary: &Summary, with_project: bool) -> String {
    let title = summary.conversation.name.clone().unwrap_or_else(|| style::one_line(&summary.title, 44));
    let agents: Vec<&str> = summary.agents().iter().map(|agent| agent.as_str()).collect();
    let turns = style::plural(summary.conversation.tree.turns().len(), "turn");
    let project = match summary.conversation.info.as_ref().filter(|_| with_project) {
        Some(info) => format!("  {}", style::home_path(&info.project)),
        None => String::new(),
    };
    format!(
        "{}  {:<44}  {:<14}  {:>8}  {:>14}  {}{project}\n",
        summary.id.short(),
        title,
        agents.join("+"),
        turns,
        style::age(summary.modified),
        state(summary)
    )
}

fn as_json(summary: &Summary) -> serde_json::Value {
    let conversation = &summary.conversation;
    let modified = summary.modified.duration_since(UNIX_EPOCH).unwrap_or_default();
    json!({
        "id": summary.id,
        "name": conversation.name,
        "title": style::one_line(&summary.title, 200),
        "project": conversation.info.as_ref().map(|info| &info.project),
        "dir": conversation.info.as_ref().map(|info| &info.dir),
        "agents": summary.agents(),
        "turns": conversation.tree.turns().len(),
        "modified_ms": modified.as_millis() as u64,
        "usage": summary.usage(),
        "state": state(summary),
    })
}
