//! Words and the documents they stand in, sorted, in pieces of some kilobytes.

use crate::failure::Failure;
use crate::varint::{put, take};

/// A block of this size is closed.
const SIZE: usize = 30 << 10;

/// Where a word stands: documents in ascending order, each with whether it was said there.
pub(crate) type Postings = Vec<(u64, bool)>;

/// Puts words into blocks. They must come in ascending order.
pub(crate) struct BlockWriter<F> {
    data: Vec<u8>,
    first: Vec<u8>,
    last: Vec<u8>,
    packed: Vec<u8>,
    /// Takes the first word of a block, and the block.
    done: F,
}

impl<F: FnMut(&[u8], &[u8]) -> Result<(), Failure>> BlockWriter<F> {
    pub(crate) fn new(done: F) -> Self {
        Self { data: Vec::new(), first: Vec::new(), last: Vec::new(), packed: Vec::new(), done }
    }

    pub(crate) fn put(
        &mut self,
        word: &[u8],
        places: impl Iterator<Item = (u64, bool)>,
    ) -> Result<(), Failure> {
        self.packed.clear();
        let mut before = 0;
        for (document, said) in places {
            put((document - before) << 1 | u64::from(said), &mut self.packed);
            before = document;
        }
        if self.packed.is_empty() {
            return Ok(());
        }
        if self.data.is_empty() {
            self.first = word.to_vec();
            self.last.clear();
        }
        let common = word.iter().zip(&self.last).take_while(|(a, b)| a == b).count();
        put(common as u64, &mut self.data);
        put((word.len() - common) as u64, &mut self.data);
        self.data.extend_from_slice(&word[common..]);
        put(self.packed.len() as u64, &mut self.data);
        self.data.extend_from_slice(&self.packed);
        self.last.clear();
        self.last.extend_from_slice(word);
        if self.data.len() >= SIZE { self.close() } else { Ok(()) }
    }

    pub(crate) fn close(&mut self) -> Result<(), Failure> {
        if !self.data.is_empty() {
            (self.done)(&self.first, &self.data)?;
            self.data.clear();
        }
        Ok(())
    }
}

/// A word, and where it stands, packed.
type WordAndPostings<'w, 'a> = (&'w [u8], &'a [u8]);

/// Goes through the words of a block.
pub(crate) struct BlockWords<'a> {
    rest: &'a [u8],
    word: Vec<u8>,
}

impl<'a> BlockWords<'a> {
    pub(crate) fn new(block: &'a [u8]) -> Self {
        Self { rest: block, word: Vec::new() }
    }

    /// The next word and its places, still packed.
    pub(crate) fn next(&mut self) -> Result<Option<WordAndPostings<'_, 'a>>, Failure> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let common = take(&mut self.rest)? as usize;
        let ending = self.bytes()?;
        if common > self.word.len() {
            return Err(Failure::Ruined);
        }
        self.word.truncate(common);
        self.word.extend_from_slice(ending);
        let places = self.bytes()?;
        Ok(Some((&self.word, places)))
    }

    fn bytes(&mut self) -> Result<&'a [u8], Failure> {
        let length = take(&mut self.rest)? as usize;
        let (bytes, rest) = self.rest.split_at_checked(length).ok_or(Failure::Ruined)?;
        self.rest = rest;
        Ok(bytes)
    }
}

/// Adds packed places to a list.
pub(crate) fn unpack_postings(mut packed: &[u8], places: &mut Postings) -> Result<(), Failure> {
    let mut document = 0_u64;
    while !packed.is_empty() {
        let step = take(&mut packed)?;
        document = document.wrapping_add(step >> 1);
        places.push((document, step & 1 == 1));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back_with_their_places() {
        let words: Vec<(Vec<u8>, Postings)> = (0..20_000)
            .map(|number| {
                let places = (0..=number % 7).map(|at| (at * 300 + number, at % 2 == 0)).collect();
                (format!("word{number:06}").into_bytes(), places)
            })
            .collect();
        let mut blocks = Vec::new();
        let mut writer = BlockWriter::new(|first, data| {
            blocks.push((first.to_vec(), data.to_vec()));
            Ok(())
        });
        for (word, places) in &words {
            writer.put(word, places.iter().copied()).unwrap();
        }
        writer.close().unwrap();
        assert!(blocks.len() > 2);
        let mut found = Vec::new();
        for (first, data) in &blocks {
            let mut reader = BlockWords::new(data);
            let begin = found.len();
            while let Some((word, packed)) = reader.next().unwrap() {
                let word = word.to_vec();
                let mut places = Vec::new();
                unpack_postings(packed, &mut places).unwrap();
                found.push((word, places));
            }
            assert_eq!(found[begin].0, *first);
        }
        assert_eq!(found, words);
    }

    #[test]
    fn a_ruined_block_is_an_error_not_a_panic() {
        let mut blocks = Vec::new();
        let mut writer = BlockWriter::new(|_, data| {
            blocks.extend_from_slice(data);
            Ok(())
        });
        writer.put(b"one", [(1, true), (500, false)].into_iter()).unwrap();
        writer.put(b"onto", [(7, false)].into_iter()).unwrap();
        writer.close().unwrap();
        for at in 0..blocks.len() {
            for byte in [0, 1, 0x7f, 0xff] {
                let mut ruined = blocks.clone();
                ruined[at] = byte;
                let mut words = BlockWords::new(&ruined);
                while let Ok(Some((_, packed))) = words.next() {
                    let _ = unpack_postings(packed, &mut Vec::new());
                }
            }
        }
    }
}
