use serde::{Deserialize, Serialize};

/// Tokens of one turn (or, in a pin, of a whole session).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Input tokens that were not served from a cache.
    pub input: u64,
    /// Input tokens served from a cache.
    #[serde(default)]
    pub cached: u64,
    /// Tokens the model wrote, reasoning included.
    pub output: u64,
}

impl Usage {
    /// What came on top of an earlier total; a total that went backwards counts from zero.
    #[must_use]
    pub fn since(self, earlier: Usage) -> Usage {
        if self.input < earlier.input || self.output < earlier.output || self.cached < earlier.cached {
            return self;
        }
        Usage {
            input: self.input - earlier.input,
            cached: self.cached - earlier.cached,
            output: self.output - earlier.output,
        }
    }

    /// Nothing was counted.
    pub fn is_zero(&self) -> bool {
        *self == Usage::default()
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Usage) {
        self.input += other.input;
        self.cached += other.cached;
        self.output += other.output;
    }
}
