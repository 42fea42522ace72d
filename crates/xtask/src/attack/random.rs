//! Random choices that a seed makes again.

/// SplitMix64: small, quick, and the same everywhere.
pub(crate) struct Random(u64);

impl Random {
    /// The choices of one world of a campaign.
    pub(crate) fn new(seed: u64, world: u64) -> Self {
        let mut random = Self(seed ^ world.wrapping_mul(0xa076_1d64_78bd_642f));
        random.next();
        random
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`; 0 if there is none.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        if limit == 0 { 0 } else { (self.next() % limit as u64) as usize }
    }

    /// One of several.
    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        from.get(self.below(from.len()))
    }

    /// Whether something happens that happens once in so many times.
    pub(crate) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_makes_the_same_choices_again_and_worlds_differ() {
        let choices = |seed, world| {
            let mut random = Random::new(seed, world);
            (0..20).map(|_| random.below(1000)).collect::<Vec<_>>()
        };
        assert_eq!(choices(1, 2), choices(1, 2));
        assert_ne!(choices(1, 2), choices(1, 3));
        assert_ne!(choices(1, 2), choices(2, 2));
    }
}
