//! A checksum for caches: they are thrown away when a bit of them is wrong.

/// A running checksum, stable between versions and machines: it is stored.
///
/// Every step can be undone, so bytes of which only one word differs never come to the same sum. It
/// finds damage, not forgery: whoever may write the caches may write the journals.
#[derive(Clone, Copy, Debug)]
pub struct Checksum(u64);

const SEED: u64 = 0xcbf2_9ce4_8422_2325;
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

impl Default for Checksum {
    fn default() -> Self {
        Self(SEED)
    }
}

impl Checksum {
    /// The sum of some bytes.
    pub fn of(bytes: &[u8]) -> u64 {
        Self::default().bytes(bytes).sum()
    }

    /// Takes in bytes, and how many there are: what stands next to each other cannot run together.
    #[must_use]
    pub fn bytes(self, bytes: &[u8]) -> Self {
        let (words, rest) = bytes.as_chunks::<8>();
        let mut sum = self.number(bytes.len() as u64);
        for word in words {
            sum = sum.number(u64::from_le_bytes(*word));
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        sum.number(u64::from_le_bytes(last))
    }

    /// Takes in a number.
    #[must_use]
    pub fn number(self, number: u64) -> Self {
        let mixed = (self.0 ^ number).wrapping_mul(FACTOR);
        // Else the highest bits would never reach the lower ones.
        Self(mixed ^ (mixed >> 32))
    }

    /// The sum.
    pub fn sum(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flipped_bit_and_every_cut_is_seen() {
        let bytes: Vec<u8> = (0..100).collect();
        let sum = Checksum::of(&bytes);
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(Checksum::of(&damaged), sum, "bit {bit}");
        }
        assert!((0..bytes.len()).all(|cut| Checksum::of(&bytes[..cut]) != sum));
        assert_ne!(Checksum::of(&[]), Checksum::of(&[0]));
    }

    #[test]
    fn two_flipped_bits_do_not_make_up_for_each_other() {
        let bytes = [0_u8; 64];
        for one in 0..512 {
            for other in 0..one {
                let mut damaged = bytes;
                damaged[one / 8] ^= 1 << (one % 8);
                damaged[other / 8] ^= 1 << (other % 8);
                assert_ne!(Checksum::of(&damaged), Checksum::of(&bytes), "bits {one} and {other}");
            }
        }
    }

    #[test]
    fn it_is_the_same_in_every_build() {
        assert_eq!(Checksum::of(b"what stands in a cache"), 0x4076_1a42_830c_668e);
    }
}
