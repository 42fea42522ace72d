//! The full text in the database: segments of sorted words, looked up, added and merged.
//!
//! Not FTS5: it takes three times as long, most of it to find the place of every single word in its
//! own tables. Here whole batches are turned around in memory and written once.

use std::collections::HashSet;

use rusqlite::{OptionalExtension, params};

use crate::batch::Batch;
use crate::block::{Blocks, Places, Words, unpack_places};
use crate::database::Database;
use crate::failure::Failure;

/// So many segments of about the same size are merged to one.
const MERGED: usize = 8;

/// Segments of this size are left alone: there are few of them.
const LARGE: i64 = 4 << 20;

impl Database {
    /// Writes a batch as a segment of its own.
    pub(crate) fn put_segment(&self, batch: &mut Batch) -> Result<(), Failure> {
        if batch.is_empty() {
            return Ok(());
        }
        self.new_segment(|write| batch.write(write))
    }

    fn new_segment(
        &self,
        fill: impl FnOnce(&mut dyn FnMut(&[u8], &[u8]) -> Result<(), Failure>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let segment = self.next_key("segment")?;
        let mut bytes = 0;
        let mut insert =
            self.connection.prepare("INSERT INTO block (segment, first, data) VALUES (?, ?, ?)")?;
        fill(&mut |first, data| {
            bytes += data.len();
            insert.execute(params![segment, first, data])?;
            Ok(())
        })?;
        self.connection.execute(
            "INSERT INTO segment (key, bytes) VALUES (?, ?)",
            params![segment, bytes.cast_signed()],
        )?;
        Ok(())
    }

    /// The documents a word stands in, ascending; or, of an `open` one, all words that begin so.
    pub(crate) fn places(&self, word: &[u8], open: bool) -> Result<Places, Failure> {
        let mut places = Places::new();
        let mut at = self
            .connection
            .prepare("SELECT data FROM block WHERE segment = ? AND first <= ? ORDER BY first DESC LIMIT 1")?;
        let mut after = self
            .connection
            .prepare("SELECT first, data FROM block WHERE segment = ? AND first > ? ORDER BY first")?;
        for (segment, _) in self.segments()? {
            let block: Option<Vec<u8>> = at.query_row(params![segment, word], |row| row.get(0)).optional()?;
            if let Some(block) = block {
                collect(&block, word, open, &mut places)?;
            }
            if !open {
                continue;
            }
            let mut rows = after.query(params![segment, word])?;
            while let Some(row) = rows.next()? {
                let first: Vec<u8> = row.get(0)?;
                if !first.starts_with(word) {
                    break;
                }
                collect(&row.get::<_, Vec<u8>>(1)?, word, open, &mut places)?;
            }
        }
        unite(&mut places);
        Ok(places)
    }

    /// Keys and sizes of all segments.
    fn segments(&self) -> Result<Vec<(i64, i64)>, Failure> {
        let mut statement = self.connection.prepare("SELECT key, bytes FROM segment ORDER BY key")?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Merges small segments where there are many, so that a look-up stays short; documents that no
    /// longer hold are left out.
    pub(crate) fn merge_segments(&self) -> Result<(), Failure> {
        loop {
            let mut segments = self.segments()?;
            segments.retain(|(_, bytes)| *bytes < LARGE);
            let tier = |bytes: i64| bytes.max(1).ilog2() / 3;
            let crowded = segments.iter().find_map(|(_, bytes)| {
                let alike = segments.iter().filter(|(_, other)| tier(*other) == tier(*bytes));
                let keys: Vec<i64> = alike.map(|(key, _)| *key).collect();
                (keys.len() >= MERGED).then_some(keys)
            });
            let Some(keys) = crowded else { return Ok(()) };
            self.merge(&keys)?;
        }
    }

    fn merge(&self, segments: &[i64]) -> Result<(), Failure> {
        let mut statement = self.connection.prepare("SELECT key FROM document")?;
        let there = statement.query_map([], |row| row.get(0).map(i64::cast_unsigned))?;
        let there: HashSet<u64> = there.collect::<Result<_, _>>()?;
        let mut runs =
            segments.iter().map(|segment| Run::new(self, *segment)).collect::<Result<Vec<_>, _>>()?;
        self.new_segment(|write| {
            let mut blocks = Blocks::new(write);
            while let Some(word) = runs.iter().filter_map(Run::word).min().map(<[u8]>::to_vec) {
                let mut places = Places::new();
                for run in runs.iter_mut().filter(|run| run.word() == Some(&word)) {
                    places.extend(run.take(self)?);
                }
                places.retain(|(document, _)| there.contains(document));
                unite(&mut places);
                blocks.put(&word, places.into_iter())?;
            }
            blocks.close()
        })?;
        for segment in segments {
            self.connection.execute("DELETE FROM block WHERE segment = ?", [segment])?;
            self.connection.execute("DELETE FROM segment WHERE key = ?", [segment])?;
        }
        Ok(())
    }
}

/// Puts places in order, each document once: said once is said.
pub(crate) fn unite(places: &mut Places) {
    places.sort_unstable_by_key(|(document, said)| (*document, !said));
    places.dedup_by_key(|(document, _)| *document);
}

/// The words of a segment, one block in memory.
struct Run {
    segment: i64,
    /// The first word of the block.
    first: Vec<u8>,
    /// What is left of it, last word first.
    words: Vec<(Vec<u8>, Places)>,
}

impl Run {
    fn new(database: &Database, segment: i64) -> Result<Self, Failure> {
        let mut run = Run { segment, first: Vec::new(), words: Vec::new() };
        run.next_block(database)?;
        Ok(run)
    }

    fn word(&self) -> Option<&[u8]> {
        self.words.last().map(|(word, _)| word.as_slice())
    }

    fn take(&mut self, database: &Database) -> Result<Places, Failure> {
        let places = self.words.pop().map(|(_, places)| places);
        if self.words.is_empty() {
            self.next_block(database)?;
        }
        Ok(places.unwrap_or_default())
    }

    fn next_block(&mut self, database: &Database) -> Result<(), Failure> {
        // No word is empty, so the first block comes after an empty one.
        let block: Option<(Vec<u8>, Vec<u8>)> = database
            .connection
            .query_row(
                "SELECT first, data FROM block WHERE segment = ? AND first > ? ORDER BY first LIMIT 1",
                params![self.segment, self.first],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .optional()?;
        let Some((first, data)) = block else { return Ok(()) };
        self.first = first;
        let mut words = Words::new(&data);
        while let Some((word, packed)) = words.next()? {
            let (word, mut places) = (word.to_vec(), Places::new());
            unpack_places(packed, &mut places)?;
            self.words.push((word, places));
        }
        self.words.reverse();
        Ok(())
    }
}

fn collect(block: &[u8], wanted: &[u8], open: bool, places: &mut Places) -> Result<(), Failure> {
    let mut words = Words::new(block);
    while let Some((word, packed)) = words.next()? {
        if word == wanted || (open && word.starts_with(wanted)) {
            unpack_places(packed, places)?;
        } else if word > wanted {
            break;
        }
    }
    Ok(())
}
