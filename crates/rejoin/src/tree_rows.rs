//! All branches of a conversation in the order in which they are drawn, a row per turn.

use std::collections::{HashMap, HashSet};

use rejoin_core::{Turn, TurnId};
use serde::{Deserialize, Serialize};

use crate::ConversationView;

/// A turn in the drawing of all branches.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct TreeRow {
    /// The turn.
    pub turn: TurnId,
    /// How many branches are open to the left of it: how far it is set off to the right.
    pub depth: usize,
    /// It begins a branch that is set off from the column to its left, which goes on below.
    pub branches_off: bool,
    /// It is on the way to the head.
    pub on_path: bool,
    /// The next turn goes on from here.
    pub is_head: bool,
    /// The named branches that end here.
    pub branches: Vec<String>,
}

impl ConversationView<'_> {
    /// A row per turn. What goes straight on stays in its column; a branch is set off to the right, and the way to
    /// the head comes last, so that it reads straight down.
    pub fn tree_rows(&self) -> Vec<TreeRow> {
        let tree = &self.conversation().tree;
        let on_path: HashSet<TurnId> = self.path().iter().map(|turn| turn.id).collect();
        let known: HashSet<TurnId> = tree.turns().iter().map(|turn| turn.id).collect();
        let mut children: HashMap<Option<TurnId>, Vec<&Turn>> = HashMap::new();
        for turn in tree.turns() {
            children.entry(turn.parent.filter(|parent| known.contains(parent))).or_default().push(turn);
        }
        for siblings in children.values_mut() {
            siblings.sort_by_key(|turn| on_path.contains(&turn.id));
        }
        let head = tree.head().map(|turn| turn.id);
        let mut named: HashMap<TurnId, Vec<String>> = HashMap::new();
        for (name, end) in tree.branches() {
            named.entry(end.id).or_default().push(name.to_owned());
        }
        // Depth first, without recursion: a conversation may be thousands of turns deep.
        let mut stack = below(&children, None, 0);
        let mut placed = HashSet::new();
        let mut rows = Vec::new();
        // What hangs on nothing but itself, a circle of parents, is reported elsewhere, and comes last.
        let mut left = tree.turns().iter();
        while let Some(Placed { turn, depth, branches_off }) = stack.pop().or_else(|| {
            let turn = left.find(|turn| !placed.contains(&turn.id))?.id;
            Some(Placed { turn, depth: 0, branches_off: false })
        }) {
            if !placed.insert(turn) {
                continue;
            }
            rows.push(TreeRow {
                turn,
                depth,
                branches_off,
                on_path: on_path.contains(&turn),
                is_head: head == Some(turn),
                branches: named.remove(&turn).unwrap_or_default(),
            });
            stack.extend(below(&children, Some(turn), depth));
        }
        rows
    }
}

/// A turn that got its column.
struct Placed {
    turn: TurnId,
    depth: usize,
    branches_off: bool,
}

/// What hangs on a turn, the last to be drawn first.
fn below(
    children: &HashMap<Option<TurnId>, Vec<&Turn>>,
    parent: Option<TurnId>,
    depth: usize,
) -> Vec<Placed> {
    let siblings = children.get(&parent).map(Vec::as_slice).unwrap_or_default();
    let last = siblings.len().saturating_sub(1);
    let place = |(at, turn): (usize, &&Turn)| {
        let branches_off = at != last;
        Placed { turn: turn.id, depth: depth + usize::from(branches_off), branches_off }
    };
    siblings.iter().enumerate().rev().map(place).collect()
}
