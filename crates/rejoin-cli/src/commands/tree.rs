//! All branches of a conversation, drawn.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use rejoin::{ConversationView, Message, Turn, TurnId};

use super::show::{margin, unanswered};
use crate::screen::label;
use crate::style;

/// One line per turn. What goes straight on stays in its column; a branch is set off to the right,
/// the way to the head comes last, so that it reads straight down.
pub(super) fn draw(view: &ConversationView<'_>, out: &mut String) -> anyhow::Result<()> {
    let tree = &view.conversation().tree;
    let on_path: HashSet<TurnId> = view.path().iter().map(|turn| turn.id).collect();
    let known: HashSet<TurnId> = tree.turns().iter().map(|turn| turn.id).collect();
    let mut children: HashMap<Option<TurnId>, Vec<&Turn>> = HashMap::new();
    for turn in tree.turns() {
        children.entry(turn.parent.filter(|parent| known.contains(parent))).or_default().push(turn);
    }
    for siblings in children.values_mut() {
        siblings.sort_by_key(|turn| on_path.contains(&turn.id));
    }
    // Depth first, without recursion: a conversation may be thousands of turns deep.
    let mut stack = below(&children, None, "");
    let mut drawn = HashSet::new();
    // What hangs on nothing but itself, a circle of parents, is reported elsewhere, and drawn last.
    let mut left = tree.turns().iter();
    let head = tree.head().map(|turn| turn.id);
    while let Some((turn, joint, bars)) = stack.pop().or_else(|| {
        left.find(|turn| !drawn.contains(&turn.id)).map(|turn| (turn, String::new(), String::new()))
    }) {
        if !drawn.insert(turn.id) {
            continue;
        }
        let mark = if on_path.contains(&turn.id) { '●' } else { '○' };
        let names: Vec<String> = tree
            .branches()
            .filter(|(_, end)| end.id == turn.id)
            .map(|(name, _)| format!(" [{}]", label(name)))
            .collect();
        let here = if head == Some(turn.id) { " ← head" } else { "" };
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
        stack.extend(below(&children, Some(turn.id), &bars));
    }
    if head.is_none() && !tree.turns().is_empty() {
        out.push_str("← head: before the first turn\n");
    }
    Ok(())
}

/// What hangs on a turn, the last to be drawn first, each with what stands before its own line and
/// before those below it.
fn below<'a>(
    children: &HashMap<Option<TurnId>, Vec<&'a Turn>>,
    parent: Option<TurnId>,
    bars: &str,
) -> Vec<(&'a Turn, String, String)> {
    let siblings = children.get(&parent).map(Vec::as_slice).unwrap_or_default();
    let last = siblings.len().saturating_sub(1);
    let set_off = |at, turn| {
        if at == last {
            (turn, bars.to_owned(), bars.to_owned())
        } else {
            (turn, format!("{bars}├─"), format!("{bars}│ "))
        }
    };
    siblings.iter().enumerate().rev().map(|(at, turn)| set_off(at, *turn)).collect()
}
