//! All branches of a conversation, drawn.

use std::fmt::Write as _;

use rejoin::{ConversationView, Message};

use super::show::{margin, unanswered};
use crate::screen::label;
use crate::style;

/// One line per turn, with what nobody answered in it below.
pub(super) fn draw(view: &ConversationView<'_>, out: &mut String) -> anyhow::Result<()> {
    let tree = &view.conversation().tree;
    for row in view.tree_rows() {
        let Some(turn) = tree.turn(row.turn) else { continue };
        let bars = "│ ".repeat(row.depth);
        let joint =
            if row.branches_off { format!("{}├─", "│ ".repeat(row.depth - 1)) } else { bars.clone() };
        let mark = if row.on_path { '●' } else { '○' };
        let names: Vec<String> = row.branches.iter().map(|name| format!(" [{}]", label(name))).collect();
        let here = if row.is_head { " ← head" } else { "" };
        let agent = label(turn.agent.as_ref().map_or("?", |agent| agent.as_str()));
        let said = view.messages(turn, 4096)?.first().map(Message::text).unwrap_or_default();
        let _ = writeln!(
            out,
            "{joint}{mark} {} {agent} · {} · {}{}{here}",
            turn.id.short(),
            style::one_line(&said, 48),
            margin(view, turn),
            names.concat()
        );
        for line in unanswered(view, turn)? {
            let _ = writeln!(out, "{bars}  {line}");
        }
    }
    if tree.head().is_none() && !tree.turns().is_empty() {
        out.push_str("← head: before the first turn\n");
    }
    Ok(())
}
