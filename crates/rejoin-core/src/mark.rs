use serde::{Deserialize, Serialize};

use crate::TurnId;

/// A hash chain over `(turn id, revision)`: says in a few bytes which turns, in which wording,
/// stand before a point of a slice.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(into = "RawMark", try_from = "RawMark")]
pub struct Mark {
    turns: u32,
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    hash: u128,
}

#[derive(Serialize, Deserialize)]
struct RawMark {
    turns: u32,
    hash: String,
}

// FNV-1a, 128 bit. Turn ids are random, so the chain needs to be well mixed, not secret.
const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

impl Mark {
    /// The mark of nothing.
    pub const EMPTY: Mark = Mark { turns: 0, hash: OFFSET };

    /// The mark one turn further.
    #[must_use]
    pub fn push(self, turn: TurnId, revision: u32) -> Mark {
        let id = turn.uuid();
        let bytes = id.as_bytes().iter().copied().chain(revision.to_le_bytes());
        let hash = bytes.fold(self.hash, |hash, byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME));
        Mark { turns: self.turns + 1, hash }
    }

    /// How many turns it stands for.
    pub const fn turns(&self) -> usize {
        self.turns as usize
    }
}

impl From<Mark> for RawMark {
    fn from(mark: Mark) -> Self {
        Self { turns: mark.turns, hash: format!("{:032x}", mark.hash) }
    }
}

impl TryFrom<RawMark> for Mark {
    type Error = std::num::ParseIntError;
    fn try_from(raw: RawMark) -> Result<Self, Self::Error> {
        Ok(Self { turns: raw.turns, hash: u128::from_str_radix(&raw.hash, 16)? })
    }
}
