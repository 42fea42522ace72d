//! The words of many documents, turned around in memory: from "what stands in it" to "where it
//! stands".

use crate::failure::Failure;
use crate::fulltext::word_block::BlockWriter;
use crate::fulltext::word_set::WordSet;

/// How much is gathered before it is written; it takes about 100 MB then.
const MOST_PAIRS: usize = 6 << 20;
const MOST_WORDS: usize = 600_000;

/// Words and where they stand, unsorted.
#[derive(Default)]
pub(crate) struct InvertedBatch {
    /// The words, one behind the other.
    text: Vec<u8>,
    /// Where each begins.
    words: Vec<u32>,
    /// Open addressing: the hash of a word, and its number plus one; 0 is free.
    table: Vec<(u64, u32)>,
    /// For every document its words, by number, with whether they were said.
    pairs: Vec<u32>,
    /// The documents and where their pairs end.
    documents: Vec<(u64, usize)>,
}

impl InvertedBatch {
    pub(crate) fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    /// Whether it is time to write it.
    pub(crate) fn is_full(&self) -> bool {
        self.pairs.len() >= MOST_PAIRS || self.words.len() >= MOST_WORDS
    }

    /// Adds the words of a document; its key is higher than those before.
    pub(crate) fn add(&mut self, document: u64, words: &WordSet) {
        for (hash, word, said) in words.words() {
            let number = self.number(hash, word);
            self.pairs.push(number << 1 | u32::from(said));
        }
        self.documents.push((document, self.pairs.len()));
    }

    /// A word is known by its hash, as in a [`WordSet`].
    fn number(&mut self, hash: u64, word: &[u8]) -> u32 {
        if self.words.len() * 2 >= self.table.len() {
            self.grow();
        }
        let mask = self.table.len() - 1;
        let mut slot = (hash >> 2) as usize & mask;
        loop {
            match self.table[slot] {
                (_, 0) => break,
                (known, number) if known == hash => return number - 1,
                _ => slot = (slot + 1) & mask,
            }
        }
        let number = self.words.len() as u32;
        self.table[slot] = (hash, number + 1);
        self.words.push(self.text.len() as u32);
        self.text.extend_from_slice(word);
        number
    }

    fn grow(&mut self) {
        let size = (self.table.len() * 2).max(1 << 14);
        let old = std::mem::replace(&mut self.table, vec![(0, 0); size]);
        for entry in old.into_iter().filter(|(_, number)| *number != 0) {
            let mut slot = (entry.0 >> 2) as usize & (size - 1);
            while self.table[slot].1 != 0 {
                slot = (slot + 1) & (size - 1);
            }
            self.table[slot] = entry;
        }
    }

    fn word(&self, number: u32) -> &[u8] {
        let at = number as usize;
        let end = self.words.get(at + 1).map_or(self.text.len(), |end| *end as usize);
        &self.text[self.words[at] as usize..end]
    }

    /// Writes all words in order, as blocks, and is empty again.
    pub(crate) fn write(
        &mut self,
        done: impl FnMut(&[u8], &[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        // Where the places of each word go, so that one pass puts them there.
        let mut ends = vec![0_u32; self.words.len() + 1];
        for pair in &self.pairs {
            ends[(pair >> 1) as usize + 1] += 1;
        }
        for at in 1..ends.len() {
            ends[at] += ends[at - 1];
        }
        let mut places = vec![0_u32; self.pairs.len()];
        let mut begin = 0;
        for (document, (_, end)) in self.documents.iter().enumerate() {
            for pair in &self.pairs[begin..*end] {
                let next = &mut ends[(pair >> 1) as usize];
                places[*next as usize] = (document as u32) << 1 | pair & 1;
                *next += 1;
            }
            begin = *end;
        }
        // Most words differ in their first eight letters: those are compared as one number.
        let mut order: Vec<(u64, u32)> =
            (0..self.words.len() as u32).map(|number| (first_letters(self.word(number)), number)).collect();
        order.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| self.word(a.1).cmp(self.word(b.1))));
        let mut blocks = BlockWriter::new(done);
        for (_, number) in order {
            let begin = number.checked_sub(1).map_or(0, |before| ends[before as usize]);
            let its = &places[begin as usize..ends[number as usize] as usize];
            let its = its.iter().map(|place| (self.documents[(place >> 1) as usize].0, place & 1 == 1));
            blocks.put(self.word(number), its)?;
        }
        blocks.close()?;
        self.text.clear();
        self.words.clear();
        self.table.fill((0, 0));
        self.pairs.clear();
        self.documents.clear();
        Ok(())
    }
}

fn first_letters(word: &[u8]) -> u64 {
    let mut letters = [0; 8];
    let length = word.len().min(8);
    letters[..length].copy_from_slice(&word[..length]);
    u64::from_be_bytes(letters)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::fulltext::word_block::{BlockWords, Postings, unpack_postings};

    #[test]
    fn documents_become_words_in_order() {
        let mut batch = InvertedBatch::default();
        let mut expected: BTreeMap<Vec<u8>, Postings> = BTreeMap::new();
        let mut words = WordSet::default();
        for document in 0..40_u64 {
            for number in 0..800_u64 {
                let (word, said) = (format!("w{}", number * number % (document + 300)), number % 3 == 0);
                words.add(&word, said);
                let places = expected.entry(word.into_bytes()).or_default();
                match places.last_mut().filter(|place| place.0 == document * 9 + 5) {
                    Some(place) => place.1 |= said,
                    None => places.push((document * 9 + 5, said)),
                }
            }
            batch.add(document * 9 + 5, &words);
            words.clear();
        }
        for _ in 0..2 {
            let mut found: Vec<(Vec<u8>, Postings)> = Vec::new();
            let write = |_: &[u8], data: &[u8]| {
                let mut words = BlockWords::new(data);
                while let Some((word, packed)) = words.next()? {
                    let (word, mut places) = (word.to_vec(), Vec::new());
                    unpack_postings(packed, &mut places)?;
                    found.push((word, places));
                }
                Ok(())
            };
            batch.write(write).unwrap();
            assert_eq!(found, std::mem::take(&mut expected).into_iter().collect::<Vec<_>>());
            assert!(batch.is_empty());
        }
    }
}
