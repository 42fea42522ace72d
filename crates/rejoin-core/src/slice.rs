use serde::{Deserialize, Serialize};

use crate::{Mark, TurnId};

/// Which turns of a conversation an agent should know.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// All turns on the path, whoever took them.
    #[default]
    Shared,
    /// Only the turns the agent took part in.
    Own,
}

impl Scope {
    /// The word used in flags and files.
    pub const fn name(self) -> &'static str {
        match self {
            Scope::Shared => "shared",
            Scope::Own => "own",
        }
    }
}

/// The turns from the root to the head that one agent should know, each in its present wording.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Slice {
    turns: Vec<(TurnId, u32)>,
    /// The mark behind each turn: a conversation may have as many pins as turns.
    marks: Vec<Mark>,
}

impl Slice {
    /// A slice of turns with their revisions, oldest first.
    pub fn new(turns: Vec<(TurnId, u32)>) -> Self {
        let behind = |mark: &mut Mark, (turn, revision): &(TurnId, u32)| {
            *mark = mark.push(*turn, *revision);
            Some(*mark)
        };
        let marks = turns.iter().scan(Mark::EMPTY, behind).collect();
        Self { turns, marks }
    }

    /// No turn at all: nothing to know yet.
    pub fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    /// How many turns there are to know.
    pub fn len(&self) -> usize {
        self.turns.len()
    }

    /// The mark at the end of the slice.
    pub fn mark(&self) -> Mark {
        self.mark_at(self.turns.len())
    }

    /// Whether a mark was made on a beginning of this slice: same turns, same wording.
    pub fn starts_with(&self, mark: &Mark) -> bool {
        mark.turns() <= self.turns.len() && self.mark_at(mark.turns()) == *mark
    }

    /// The turns after the first `count`.
    pub fn after(&self, count: usize) -> impl Iterator<Item = TurnId> + '_ {
        self.turns.iter().skip(count).map(|(turn, _)| *turn)
    }

    /// The turns with their revisions, oldest first.
    pub(crate) fn turns(&self) -> impl Iterator<Item = (TurnId, u32)> + '_ {
        self.turns.iter().copied()
    }

    /// How many turns two slices begin with in common, whatever their wording.
    pub(crate) fn common(&self, other: &Slice) -> usize {
        self.turns.iter().zip(&other.turns).take_while(|(one, other)| one.0 == other.0).count()
    }

    fn mark_at(&self, count: usize) -> Mark {
        count.checked_sub(1).map_or(Mark::EMPTY, |last| self.marks[last])
    }
}
