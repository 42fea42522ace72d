use crate::{Agent, Edit, Mark, Scope, Slice, Tree, Turn, TurnId};

/// How the history came to differ from what a session may hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Divergence {
    /// Turns of the path were edited since.
    Edited {
        /// The first of them.
        turn: TurnId,
        /// When it was edited last, for display.
        at: String,
    },
    /// The session went on with turns that are not on the path: another branch, or taken back.
    Elsewhere {
        /// How many turns of the slice it shares.
        common: usize,
        /// How many it may hold.
        held: usize,
    },
    /// What it holds is not in this journal.
    Unknown,
}

/// Why the slice of `path` does not begin as `mark` says. A pin was made at some moment, so the
/// edits made after it are taken back one by one, newest first, until its mark fits.
pub fn divergence(tree: &Tree, path: &[&Turn], scope: Scope, agent: &Agent, mark: &Mark) -> Divergence {
    let held = mark.turns();
    let here = Tree::slice(path, scope, agent);
    let elsewhere: Vec<Slice> = tree
        .turns()
        .iter()
        .map(|turn| Tree::slice(&tree.path(Some(turn.id)).0, scope, agent))
        .filter(|slice| slice.len() == held)
        .collect();
    let edits = tree.edits();
    for undone in 0..=edits.len() {
        let (_, later) = edits.split_at(edits.len() - undone);
        if before(&here, later).starts_with(mark) {
            return first_edit(&here, later, held);
        }
        if let Some(there) = elsewhere.iter().find(|slice| before(slice, later).starts_with(mark)) {
            return match here.common(there) {
                common if common == held => Divergence::Unknown,
                common => Divergence::Elsewhere { common, held },
            };
        }
    }
    Divergence::Unknown
}

/// A slice as it was before some edits.
fn before(slice: &Slice, edits: &[Edit]) -> Slice {
    let times = |turn: TurnId| edits.iter().filter(|edit| edit.turn == turn).count() as u32;
    Slice::new(slice.turns().map(|(turn, revision)| (turn, revision.saturating_sub(times(turn)))).collect())
}

fn first_edit(slice: &Slice, edits: &[Edit], held: usize) -> Divergence {
    let edited = slice.turns().take(held).find_map(|(turn, _)| {
        let edit = edits.iter().rev().find(|edit| edit.turn == turn)?;
        Some(Divergence::Edited { turn, at: edit.at.clone() })
    });
    edited.unwrap_or(Divergence::Unknown)
}
