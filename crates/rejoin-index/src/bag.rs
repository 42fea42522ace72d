//! The different words of a piece of history, gathered for the full text.

use crate::words::{Word, words};

/// A set of words, each with whether it was said or only done.
#[derive(Default)]
pub(crate) struct Bag {
    /// The words, one behind the other.
    text: Vec<u8>,
    words: Vec<Entry>,
    /// Open addressing; 0 is free, else the number of the word plus one.
    table: Vec<u32>,
    /// Bytes of text that went through it.
    taken: usize,
}

#[derive(Clone, Copy)]
struct Entry {
    hash: u64,
    begin: u32,
    length: u8,
    said: bool,
}

impl Bag {
    /// Adds the words of a text.
    pub(crate) fn add(&mut self, text: &str, said: bool) {
        self.taken += text.len();
        words(text, |word, _| self.insert(word, said));
    }

    /// Bytes of text whose words it holds.
    pub(crate) fn taken(&self) -> usize {
        self.taken
    }

    /// Bytes it needs itself.
    pub(crate) fn size(&self) -> usize {
        self.text.len()
    }

    /// The words with their hashes, and whether they were said.
    pub(crate) fn words(&self) -> impl Iterator<Item = (u64, &[u8], bool)> {
        self.words.iter().map(|entry| {
            let begin = entry.begin as usize;
            (entry.hash, &self.text[begin..begin + usize::from(entry.length)], entry.said)
        })
    }

    /// Throws all words away.
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.words.clear();
        self.table.fill(0);
        self.taken = 0;
    }

    fn insert(&mut self, word: &Word, said: bool) {
        if self.words.len() * 2 >= self.table.len() {
            self.grow();
        }
        let bytes = word.as_bytes();
        let hash = hash(word);
        let mask = self.table.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            match self.table[slot] {
                0 => break,
                number => {
                    let entry = &mut self.words[number as usize - 1];
                    let begin = entry.begin as usize;
                    if entry.hash == hash
                        && usize::from(entry.length) == bytes.len()
                        && self.text[begin..begin + bytes.len()] == *bytes
                    {
                        entry.said |= said;
                        return;
                    }
                }
            }
            slot = (slot + 1) & mask;
        }
        let begin = self.text.len() as u32;
        self.words.push(Entry { hash, begin, length: bytes.len() as u8, said });
        self.table[slot] = self.words.len() as u32;
        self.text.extend_from_slice(bytes);
    }

    fn grow(&mut self) {
        let size = (self.table.len() * 2).max(1 << 12);
        self.table = vec![0; size];
        for (number, entry) in (1..).zip(&self.words) {
            let mut slot = entry.hash as usize & (size - 1);
            while self.table[slot] != 0 {
                slot = (slot + 1) & (size - 1);
            }
            self.table[slot] = number;
        }
    }
}

/// Only good for tables in memory.
#[inline]
fn hash(word: &Word) -> u64 {
    const MIX: u64 = 0x9e37_79b9_7f4a_7c15;
    let bytes = word.as_bytes();
    let mut hash = (word.head() ^ bytes.len() as u64).wrapping_mul(MIX);
    for rest in bytes.get(8..).unwrap_or_default().chunks(8) {
        let mut eight = [0; 8];
        eight[..rest.len()].copy_from_slice(rest);
        hash = (hash.rotate_left(23) ^ u64::from_le_bytes(eight)).wrapping_mul(MIX);
    }
    let hash = (hash ^ hash >> 32).wrapping_mul(MIX);
    hash ^ hash >> 29
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_kept_once_and_what_was_said_is_marked() {
        let mut bag = Bag::default();
        bag.add("one two Two", false);
        bag.add("two three", true);
        assert_eq!(bag.taken(), 20);
        let words: Vec<(&[u8], bool)> = bag.words().map(|(_, word, said)| (word, said)).collect();
        assert_eq!(words, [(&b"one"[..], false), (b"two", true), (b"three", true)]);
        bag.clear();
        assert_eq!(bag.words().count(), 0);
    }

    #[test]
    fn many_words_find_their_places() {
        let mut bag = Bag::default();
        for _ in 0..2 {
            for number in 0..20_000 {
                bag.add(&format!("word{number} a{number}longer{number}"), false);
            }
        }
        let hashes: std::collections::HashSet<u64> = bag.words().map(|(hash, ..)| hash).collect();
        assert_eq!((bag.words().count(), hashes.len()), (40_000, 40_000));
    }
}
