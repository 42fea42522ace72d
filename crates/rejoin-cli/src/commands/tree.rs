//! All branches of a conversation, drawn.

use std::fmt::Write as _;

use rejoin::{ConversationView, Message};
use unicode_width::UnicodeWidthStr;

use super::turn_view::{margin, unanswered};
use crate::screen::label;
use crate::style;
use crate::wrap::wrapped;

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
        let edited = if turn.revision > 0 { " ✎" } else { "" };
        let here = if row.is_head { " ← head" } else { "" };
        let agent = label(turn.agent.as_ref().map_or("?", |agent| agent.as_str()));
        let said = view.messages(turn, 4096)?.first().map(Message::text).unwrap_or_default();
        let _ = writeln!(
            out,
            "{joint}{mark} {} {agent} · {}{edited} · {}{}{here}",
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

/// The same in lines no wider than this, broken at words; the bars go on beside them.
pub(super) fn fitted(drawn: &str, width: usize) -> String {
    let mut out = String::new();
    for line in drawn.lines() {
        let bars: String = line.chars().take_while(|c| "│├─ ".contains(*c)).collect();
        let beside = bars.replace("├─", "│ ") + "    ";
        let rest = &line[bars.len()..];
        for (at, part) in wrapped(rest, width.saturating_sub(beside.width())).iter().enumerate() {
            let _ = writeln!(out, "{}{part}", if at == 0 { &bars } else { &beside });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_go_on_beside_what_is_broken() {
        let drawn = "● one two\n│ ├─○ three four five\n";
        assert_eq!(fitted(drawn, 16), "● one two\n│ ├─○ three\n│ │     four\n│ │     five\n");
        assert_eq!(fitted(drawn, usize::MAX), drawn);
    }
}
