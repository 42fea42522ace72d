use serde::{Deserialize, Serialize};

/// Tokens of one turn (or, in a pin, of a whole session).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
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
            input: self.input.saturating_sub(earlier.input),
            cached: self.cached.saturating_sub(earlier.cached),
            output: self.output.saturating_sub(earlier.output),
        }
    }

    /// What one turn used of a session whose agent counts the whole of it, and where the total stands
    /// then. A turn that was stopped tells no total: what the agent stored counts, or the next turn
    /// would be charged for this one.
    pub fn of_turn(before: Usage, told: Option<Usage>, stored: Option<Usage>) -> Option<(Usage, Usage)> {
        let total = told.or(stored)?;
        Some((total.since(before), total))
    }

    /// Nothing was counted.
    pub fn is_zero(&self) -> bool {
        *self == Usage::default()
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Usage) {
        self.input = self.input.saturating_add(other.input);
        self.cached = self.cached.saturating_add(other.cached);
        self.output = self.output.saturating_add(other.output);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// How a turn ended, as far as its count is concerned.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum End {
        /// The agent told the total.
        Told,
        /// It was cancelled, failed or ran out of time.
        Stopped,
        /// Nobody settled it: there is no receipt.
        Killed,
    }

    #[test]
    fn counts_that_no_agent_can_mean_are_as_large_as_there_is() {
        let most = Usage { input: u64::MAX, cached: u64::MAX - 1, output: u64::MAX };
        let mut sum = most;
        sum += Usage { input: 1, cached: 1, output: u64::MAX };
        assert_eq!(sum, Usage { cached: u64::MAX, ..most });
        assert_eq!(sum.since(most), Usage { input: 0, cached: 1, output: 0 });
        assert_eq!(Usage::default().since(most), Usage::default());
    }

    proptest! {
        #[test]
        fn what_the_turns_used_is_what_the_agent_counted(
            turns in prop::collection::vec(
                (prop::sample::select(vec![End::Told, End::Stopped, End::Killed]), (0..99_u64, 0..99_u64, 0..99_u64)),
                0..20,
            )
        ) {
            let (mut stored, mut remembered) = (Usage::default(), Some(Usage::default()));
            let (mut receipts, mut unsettled) = (Usage::default(), Usage::default());
            for (end, (input, cached, output)) in turns {
                let used = Usage { input, cached, output };
                // After a turn that nobody settled the store is asked.
                let before = remembered.unwrap_or(stored);
                stored += used;
                if end == End::Killed {
                    remembered = None;
                    unsettled += used;
                    continue;
                }
                let told = (end == End::Told).then_some(stored);
                let (of_turn, total) = Usage::of_turn(before, told, Some(stored)).unwrap();
                prop_assert_eq!(of_turn, used);
                remembered = Some(total);
                receipts += of_turn;
            }
            receipts += unsettled;
            prop_assert_eq!(receipts, stored);
        }
    }
}
