//! Readers of foreign bytes, fed with a committed corpus and what becomes of it when it is mangled.
//!
//! No coverage guides it: that needs a nightly compiler, and `cargo xtask test` must not. It is quick and
//! repeatable: the same seed makes the same bytes. `cargo xtask fuzz` runs it for longer, with other seeds.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a target runs, in seconds; set by `cargo xtask fuzz`.
pub const SECONDS: &str = "REJOIN_FUZZ_SECONDS";
/// Where to begin; a failure says which seed to repeat.
pub const SEED: &str = "REJOIN_FUZZ_SEED";

/// Feeds a reader every file of a corpus, and for a while what mangling makes of them. What it fails on is
/// written beside the temporary files and named, so that it can join the corpus.
pub fn fuzz(corpus: impl IntoIterator<Item = Vec<u8>>, mut read: impl FnMut(&[u8])) {
    let corpus: Vec<Vec<u8>> = corpus.into_iter().collect();
    assert!(!corpus.is_empty(), "a corpus must not be empty");
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let end = Instant::now() + number(SECONDS).map_or(Duration::from_millis(1500), Duration::from_secs);
    let mut seed = number(SEED).unwrap_or(1);
    for bytes in &corpus {
        try_one(bytes, "the corpus itself", &mut read);
    }
    while Instant::now() < end {
        let bytes = Dice(seed).mangled(&corpus);
        try_one(&bytes, &format!("{SEED}={seed}"), &mut read);
        seed += 1;
    }
}

/// The files of a directory, in a stable order.
#[allow(clippy::unwrap_used, reason = "a corpus that is not there fails the test")]
pub fn corpus(directory: impl AsRef<Path>) -> Vec<Vec<u8>> {
    let mut paths: Vec<_> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().filter(|path| path.is_file()).map(|path| fs::read(path).unwrap()).collect()
}

fn try_one(bytes: &[u8], origin: &str, read: &mut impl FnMut(&[u8])) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| read(bytes))) {
        let kept = std::env::temp_dir().join(format!("rejoin-fuzz-{}", std::process::id()));
        let _ = fs::write(&kept, bytes);
        eprintln!("failed on {origin}; the bytes are in {}", kept.display());
        resume_unwind(panic);
    }
}

/// A source of numbers that always gives the same ones (splitmix64).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below `end`, which may be 0.
    fn below(&mut self, end: usize) -> usize {
        (self.next() % (end.max(1) as u64)) as usize
    }

    fn mangled(&mut self, corpus: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = corpus[self.below(corpus.len())].clone();
        for _ in 0..=self.below(4) {
            self.mangle(&mut bytes, corpus);
        }
        bytes
    }

    fn mangle(&mut self, bytes: &mut Vec<u8>, corpus: &[Vec<u8>]) {
        const ODD: [&[u8]; 12] = [
            b"\0",
            b"\n",
            b"\r\n",
            b"\"",
            b"\\",
            b"{",
            b"}",
            b"\xff\xfe",
            b"\\ud800",
            b"null",
            b"-1",
            b"18446744073709551616",
        ];
        let at = self.below(bytes.len() + 1);
        let length = self.below((bytes.len() - at).min(64) + 1);
        match self.below(8) {
            0 if !bytes.is_empty() => {
                let at = self.below(bytes.len());
                bytes[at] ^= 1 << self.below(8);
            }
            1 => bytes.truncate(at),
            2 => {
                bytes.drain(at..at + length);
            }
            3 => {
                let again = bytes[at..at + length].to_vec();
                bytes.splice(at..at, again);
            }
            4 => {
                bytes.splice(at..at + length, ODD[self.below(ODD.len())].iter().copied());
            }
            5 => {
                let other = &corpus[self.below(corpus.len())];
                let from = self.below(other.len() + 1);
                let to = from + self.below((other.len() - from).min(4096) + 1);
                bytes.splice(at..at, other[from..to].iter().copied());
            }
            // Whole lines: taken out, told twice, put elsewhere.
            kind => {
                let mut lines: Vec<Vec<u8>> =
                    bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
                if lines.len() < 2 {
                    return;
                }
                let line = self.below(lines.len());
                let moved = if kind == 6 { lines.remove(line) } else { lines[line].clone() };
                if self.below(3) > 0 {
                    let to = self.below(lines.len() + 1);
                    lines.insert(to, moved);
                }
                *bytes = lines.concat();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_always_makes_the_same_bytes_and_seeds_differ() {
        let corpus = [b"one\ntwo\nthree\n".to_vec(), b"{\"a\":1}".to_vec()];
        let made = |seed| Dice(seed).mangled(&corpus);
        assert!((0..100).all(|seed| made(seed) == made(seed)));
        let different: std::collections::HashSet<_> = (0..100).map(made).collect();
        assert!(different.len() > 50);
    }

    #[test]
    fn a_reader_that_fails_is_told_apart() {
        let failed = catch_unwind(|| {
            fuzz([b"good".to_vec()], |bytes| assert!(bytes.starts_with(b"g"), "it begins otherwise"));
        });
        assert!(failed.is_err());
    }
}
