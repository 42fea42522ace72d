//! What the full text consists of: its segments, and the turns whose words stand in several documents.
//! It stands in one row, so that nothing of it can be missing unseen. The header of the file names that row:
//! one of an older time (a write that never reached the disk) would hide the segments that came since.

use std::collections::HashMap;

use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};

use crate::database::{Database, Document, expect, stored, sum_of};
use crate::failure::Failure;

const KEY: i64 = 1;

#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Catalog {
    pub(crate) segments: Vec<Segment>,
    /// The highest key of a document whose words are in a segment.
    pub(crate) last_document: i64,
    /// Documents that hold only a part of a turn: journal, turn, key.
    parts: Vec<(i64, usize, i64)>,
}

/// Sorted words, in blocks of which each names the next.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Segment {
    pub(crate) key: i64,
    pub(crate) bytes: i64,
    /// Where the first block begins.
    pub(crate) first: Vec<u8>,
}

impl Catalog {
    /// Notes that a document holds only a part of a turn.
    pub(crate) fn divide(&mut self, document: &Document) {
        self.parts.push((document.journal, document.first, document.key));
    }

    /// Forgets a document; says whether it was a part.
    pub(crate) fn unite(&mut self, key: i64) -> bool {
        let before = self.parts.len();
        self.parts.retain(|(_, _, part)| *part != key);
        self.parts.len() < before
    }

    /// Documents that hold only a part of a turn, each with the first one of that turn.
    pub(crate) fn divided(&self) -> HashMap<u64, u64> {
        let mut first: HashMap<(i64, usize), i64> = HashMap::new();
        for (journal, turn, key) in &self.parts {
            let first = first.entry((*journal, *turn)).or_insert(*key);
            *first = (*first).min(*key);
        }
        let part = |(journal, turn, key): &(i64, usize, i64)| {
            (key.cast_unsigned(), first[&(*journal, *turn)].cast_unsigned())
        };
        self.parts.iter().map(part).collect()
    }
}

impl Database {
    pub(crate) fn catalog(&self) -> Result<Catalog, Failure> {
        let query = "SELECT contents, sum FROM contents WHERE key = ?";
        let (json, sum): (String, i64) =
            self.connection.query_row(query, [KEY], |row| Ok((row.get(0)?, row.get(1)?)))?;
        expect(sum, sum_of(KEY).bytes(json.as_bytes()))?;
        let named: i32 = self.connection.query_row("PRAGMA application_id", [], |row| row.get(0))?;
        if named != name_of(sum) {
            return Err(Failure::Ruined);
        }
        Ok(serde_json::from_str(&json)?)
    }

    pub(crate) fn put_catalog(&self, catalog: &Catalog) -> Result<(), Failure> {
        put_catalog(&self.connection, catalog)
    }
}

pub(crate) fn put_catalog(connection: &Connection, catalog: &Catalog) -> Result<(), Failure> {
    let json = serde_json::to_string(catalog)?;
    let sum = stored(sum_of(KEY).bytes(json.as_bytes()));
    connection
        .execute("REPLACE INTO contents (key, contents, sum) VALUES (?, ?, ?)", params![KEY, json, sum])?;
    // The one free number of the header.
    Ok(connection.execute_batch(&format!("PRAGMA application_id = {}", name_of(sum)))?)
}

/// How the header names contents with this sum.
fn name_of(sum: i64) -> i32 {
    sum as i32
}
