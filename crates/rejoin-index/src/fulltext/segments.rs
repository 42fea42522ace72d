//! The full text in the database: segments of sorted words, looked up, added and merged.
//!
//! Not FTS5: it takes three times as long, most of it to find the place of every single word in its
//! own tables. Here whole batches are turned around in memory and written once.

use std::collections::HashMap;

use rejoin_journal::Checksum;
use rusqlite::{Row, Statement, params};

use crate::database::{Database, Document, NO_JOURNAL, expect, stored, sum_of};
use crate::failure::Failure;
use crate::fulltext::catalog::Segment;
use crate::fulltext::inverted_batch::InvertedBatch;
use crate::fulltext::word_block::{BlockWords, BlockWriter, Postings, unpack_postings};

/// So many segments of about the same size are merged to one.
const MERGED: usize = 8;

/// Segments of this size are left alone: there are few of them.
const LARGE: i64 = 4 << 20;

impl Database {
    /// Writes a batch as a segment of its own.
    pub(crate) fn put_segment(&self, batch: &mut InvertedBatch) -> Result<(), Failure> {
        if batch.is_empty() {
            return Ok(());
        }
        self.new_segment(|write| batch.write(write))
    }

    fn new_segment(
        &self,
        fill: impl FnOnce(&mut dyn FnMut(&[u8], &[u8]) -> Result<(), Failure>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut catalog = self.catalog()?;
        let key = catalog.segments.iter().map(|segment| segment.key).max().unwrap_or(0) + 1;
        let mut insert = self
            .connection
            .prepare("INSERT INTO block (segment, first, next, data, sum) VALUES (?, ?, ?, ?, ?)")?;
        let mut write = |block: &Block| {
            let Block { first, next, data } = block;
            insert.execute(params![key, first, next, data, stored(block.sum(key))])
        };
        let mut segment = Segment { key, bytes: 0, first: Vec::new() };
        // A block is written when it is known where the next one begins.
        let mut last: Option<Block> = None;
        fill(&mut |first, data| {
            segment.bytes += data.len().cast_signed() as i64;
            let block = Block { first: first.to_vec(), next: None, data: data.to_vec() };
            match last.replace(block) {
                None => segment.first = first.to_vec(),
                Some(before) => {
                    write(&Block { next: Some(first.to_vec()), ..before })?;
                }
            }
            Ok(())
        })?;
        if let Some(last) = last {
            write(&last)?;
            catalog.segments.push(segment);
            catalog.last_document = self.next_key("document")? - 1;
            self.put_catalog(&catalog)?;
        }
        Ok(())
    }

    /// The documents a word stands in, ascending; or, of an `open` one, all words that begin so.
    pub(crate) fn places(&self, segments: &[Segment], word: &[u8], open: bool) -> Result<Postings, Failure> {
        let mut places = Postings::new();
        let mut blocks = BlockFinder::new(self)?;
        for segment in segments {
            let mut next = match blocks.around(segment, word)? {
                None => Some(segment.first.clone()),
                Some(block) => {
                    collect(&block.data, word, open, &mut places)?;
                    block.next
                }
            };
            while let Some(first) = next.take().filter(|first| open && first.starts_with(word)) {
                let block = blocks.at(segment.key, &first)?;
                collect(&block.data, word, open, &mut places)?;
                next = block.next;
            }
        }
        unite(&mut places);
        Ok(places)
    }

    /// Merges small segments where there are many, so that a look-up stays short; documents that no
    /// longer hold are left out.
    pub(crate) fn merge_segments(&self) -> Result<(), Failure> {
        loop {
            let mut segments = self.catalog()?.segments;
            segments.retain(|segment| segment.bytes < LARGE);
            let tier = |segment: &Segment| segment.bytes.max(1).ilog2() / 3;
            let crowded = segments.iter().find_map(|one| {
                let alike: Vec<Segment> =
                    segments.iter().filter(|other| tier(other) == tier(one)).cloned().collect();
                (alike.len() >= MERGED).then_some(alike)
            });
            let Some(crowded) = crowded else { return Ok(()) };
            self.merge(&crowded)?;
        }
    }

    fn merge(&self, segments: &[Segment]) -> Result<(), Failure> {
        let mut statement = self.connection.prepare("SELECT key, journal, first, last, sum FROM document")?;
        let documents = statement.query_map([], Document::read)?;
        let in_use = |document: Document| (document.key.cast_unsigned(), document.journal != NO_JOURNAL);
        let in_use: HashMap<u64, bool> =
            documents.map(|document| document.map(in_use)).collect::<Result<_, _>>()?;
        let mut cursors = segments
            .iter()
            .map(|segment| SegmentCursor::new(self, segment))
            .collect::<Result<Vec<_>, _>>()?;
        self.new_segment(|write| {
            let mut blocks = BlockWriter::new(write);
            while let Some(word) = cursors.iter().filter_map(SegmentCursor::word).min().map(<[u8]>::to_vec) {
                let mut places = Postings::new();
                for cursor in cursors.iter_mut().filter(|cursor| cursor.word() == Some(&word)) {
                    places.extend(cursor.take(self)?);
                }
                unite(&mut places);
                // The row of a document stays when it is out of use: one without a row was lost.
                if !places.iter().all(|(document, _)| in_use.contains_key(document)) {
                    return Err(Failure::Ruined);
                }
                places.retain(|(document, _)| in_use[document]);
                blocks.put(&word, places.into_iter())?;
            }
            blocks.close()
        })?;
        let mut catalog = self.catalog()?;
        for Segment { key, .. } in segments {
            self.connection.execute("DELETE FROM block WHERE segment = ?", [key])?;
            catalog.segments.retain(|segment| segment.key != *key);
        }
        self.put_catalog(&catalog)
    }
}

/// Finds blocks. One that is not there although another names it was lost.
struct BlockFinder<'a>(Statement<'a>);

impl<'a> BlockFinder<'a> {
    fn new(database: &'a Database) -> Result<Self, Failure> {
        let query = "SELECT first, next, data, sum FROM block WHERE segment = ? AND first <= ? ORDER BY first DESC LIMIT 1";
        Ok(Self(database.connection.prepare(query)?))
    }

    /// The block of a segment that begins with this word.
    fn at(&mut self, segment: i64, first: &[u8]) -> Result<Block, Failure> {
        let (block, sum) = self.0.query_row(params![segment, first], Block::read)?;
        expect(sum, block.sum(segment))?;
        if block.first == first { Ok(block) } else { Err(Failure::Ruined) }
    }

    /// The block of a segment in which a word stands, if it stands in that segment.
    fn around(&mut self, segment: &Segment, word: &[u8]) -> Result<Option<Block>, Failure> {
        if word < segment.first.as_slice() {
            return Ok(None);
        }
        let (block, sum) = self.0.query_row(params![segment.key, word], Block::read)?;
        expect(sum, block.sum(segment.key))?;
        let within = block.first.as_slice() <= word && block.next.as_deref().is_none_or(|next| next > word);
        if within { Ok(Some(block)) } else { Err(Failure::Ruined) }
    }
}

/// Some words of a segment.
struct Block {
    /// The first one.
    first: Vec<u8>,
    /// The first one of the next block.
    next: Option<Vec<u8>>,
    data: Vec<u8>,
}

impl Block {
    fn read(row: &Row<'_>) -> rusqlite::Result<(Self, i64)> {
        Ok((Block { first: row.get(0)?, next: row.get(1)?, data: row.get(2)? }, row.get(3)?))
    }

    fn sum(&self, segment: i64) -> Checksum {
        let sum = sum_of(segment).bytes(&self.first).number(u64::from(self.next.is_some()));
        sum.bytes(self.next.as_deref().unwrap_or_default()).bytes(&self.data)
    }
}

/// Puts places in order, each document once: said once is said.
pub(crate) fn unite(places: &mut Postings) {
    places.sort_unstable_by_key(|(document, said)| (*document, !said));
    places.dedup_by_key(|(document, _)| *document);
}

/// The words of a segment, one block in memory.
struct SegmentCursor {
    segment: i64,
    /// Where the next block begins.
    next: Option<Vec<u8>>,
    /// What is left of this one, last word first.
    words: Vec<(Vec<u8>, Postings)>,
}

impl SegmentCursor {
    fn new(database: &Database, segment: &Segment) -> Result<Self, Failure> {
        let mut cursor =
            SegmentCursor { segment: segment.key, next: Some(segment.first.clone()), words: Vec::new() };
        cursor.next_block(database)?;
        Ok(cursor)
    }

    fn word(&self) -> Option<&[u8]> {
        self.words.last().map(|(word, _)| word.as_slice())
    }

    fn take(&mut self, database: &Database) -> Result<Postings, Failure> {
        let places = self.words.pop().map(|(_, places)| places);
        if self.words.is_empty() {
            self.next_block(database)?;
        }
        Ok(places.unwrap_or_default())
    }

    fn next_block(&mut self, database: &Database) -> Result<(), Failure> {
        let Some(first) = self.next.take() else { return Ok(()) };
        let Block { next, data, .. } = BlockFinder::new(database)?.at(self.segment, &first)?;
        self.next = next;
        let mut words = BlockWords::new(&data);
        while let Some((word, packed)) = words.next()? {
            let (word, mut places) = (word.to_vec(), Postings::new());
            unpack_postings(packed, &mut places)?;
            self.words.push((word, places));
        }
        self.words.reverse();
        Ok(())
    }
}

fn collect(block: &[u8], wanted: &[u8], open: bool, places: &mut Postings) -> Result<(), Failure> {
    let mut words = BlockWords::new(block);
    while let Some((word, packed)) = words.next()? {
        if word == wanted || (open && word.starts_with(wanted)) {
            unpack_postings(packed, places)?;
        } else if word > wanted {
            break;
        }
    }
    Ok(())
}
