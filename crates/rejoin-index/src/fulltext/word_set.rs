//! The different words of a piece of history, gathered for the full text.

use crate::fulltext::tokenize::{Word, words};

/// A set of words, each with whether it was said or only done. A word is known by its hash: of a
/// million words, two are taken for one with a chance of one in thirty million.
#[derive(Default)]
pub(crate) struct WordSet {
    /// The words, one behind the other.
    text: Vec<u8>,
    /// The hash of each word and where it ends.
    words: Vec<(u64, u32)>,
    /// Open addressing: hashes, the lowest bit says whether the word was said; 0 is free.
    table: Vec<u64>,
}

const SAID: u64 = 1;

impl WordSet {
    /// Adds the words of a text.
    pub(crate) fn add(&mut self, text: &str, said: bool) {
        let said = if said { SAID } else { 0 };
        words(text, |word, _| {
            let hash = hash(word);
            if self.words.len() * 2 >= self.table.len() {
                self.grow();
            }
            let slot = slot(&self.table, hash);
            match &mut self.table[slot] {
                0 => {
                    self.table[slot] = hash | said;
                    word.append_to(&mut self.text);
                    self.words.push((hash, self.text.len() as u32));
                }
                known => *known |= said,
            }
        });
    }

    /// Bytes it needs itself.
    pub(crate) fn size(&self) -> usize {
        self.text.len()
    }

    /// The words with their hashes, and whether they were said.
    pub(crate) fn words(&self) -> impl Iterator<Item = (u64, &[u8], bool)> {
        let mut begin = 0;
        self.words.iter().map(move |(hash, end)| {
            let word = &self.text[begin..*end as usize];
            begin = *end as usize;
            (*hash, word, self.table[slot(&self.table, *hash)] & SAID != 0)
        })
    }

    /// Throws all words away.
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.words.clear();
        self.table.fill(0);
    }

    fn grow(&mut self) {
        let size = (self.table.len() * 2).max(1 << 12);
        for known in std::mem::replace(&mut self.table, vec![0; size]) {
            if known != 0 {
                let slot = slot(&self.table, known & !SAID);
                self.table[slot] = known;
            }
        }
    }
}

/// Where a hash stands, or would.
#[inline]
fn slot(table: &[u64], hash: u64) -> usize {
    let mask = table.len() - 1;
    let mut slot = (hash >> 2) as usize & mask;
    while table[slot] != 0 && table[slot] & !SAID != hash {
        slot = (slot + 1) & mask;
    }
    slot
}

/// Never 0, the lowest bit always 0; only good for tables in memory.
#[inline]
fn hash(word: &Word) -> u64 {
    const MIX: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut hash = word.len() as u64;
    for eight in word.eights() {
        hash = (hash.rotate_left(23) ^ eight).wrapping_mul(MIX);
    }
    let hash = (hash ^ hash >> 32).wrapping_mul(MIX);
    (hash ^ hash >> 29) << 1 | 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_kept_once_and_what_was_said_is_marked() {
        let mut set = WordSet::default();
        set.add("one two Two", false);
        set.add("two three", true);
        let words: Vec<(&[u8], bool)> = set.words().map(|(_, word, said)| (word, said)).collect();
        assert_eq!(words, [(&b"one"[..], false), (b"two", true), (b"three", true)]);
        set.clear();
        assert_eq!(set.words().count(), 0);
    }

    #[test]
    fn many_words_find_their_places() {
        let mut set = WordSet::default();
        for _ in 0..2 {
            for number in 0..20_000 {
                set.add(&format!("word{number} a{number}longer{number}"), false);
            }
        }
        let hashes: std::collections::HashSet<u64> = set.words().map(|(hash, ..)| hash).collect();
        assert_eq!((set.words().count(), hashes.len()), (40_000, 40_000));
    }
}
