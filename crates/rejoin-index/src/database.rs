//! The SQLite file: opened, made, thrown away. Nothing in it is worth keeping.

use std::collections::HashSet;
use std::fs::{self, OpenOptions};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rejoin_core::{ConversationId, TurnId};
use rejoin_journal::{Checksum, JournalState, private};
use rusqlite::{Connection, OpenFlags, OptionalExtension, Row, params};
use uuid::Uuid;

use crate::facts::{Facts, Fingerprint, Summary, TurnFacts};
use crate::failure::Failure;
use crate::fulltext::catalog::{Catalog, put_catalog};
use crate::rows::is_unended;
use crate::varint::{pack, unpack};

/// Raised whenever the tables, or what is written into them, change: the file is then made anew.
const SCHEMA: i64 = 8;

const NAME: &str = "index.sqlite";

/// Of more documents than these, all are read at once instead of one by one.
const FEW_DOCUMENTS: usize = 300;

/// How long to wait for another process. A command does not hang because of a cache.
const PATIENCE: Duration = Duration::from_millis(100);

/// Every row carries a checksum: SQLite notices damage to its own structures, not to what is stored in
/// them. Rows that vanish are noticed by those that name them.
const TABLES: &str = "
    CREATE TABLE journal (
        key INTEGER PRIMARY KEY,
        id BLOB NOT NULL UNIQUE,
        file INTEGER NOT NULL,      -- which file, how long and how old it was when it was read
        bytes INTEGER NOT NULL,
        modified INTEGER NOT NULL,
        worded INTEGER NOT NULL,    -- whether all its words are in the full text: 0, or from its sum
        used INTEGER,               -- when, in milliseconds since 1970
        project TEXT,
        name TEXT,
        unended INTEGER NOT NULL,   -- whether its last turn has no end: 0 or 1
        sum INTEGER NOT NULL
    );
    CREATE TABLE facts (            -- apart from it, so that all journals are looked over quickly
        journal INTEGER PRIMARY KEY,
        summary TEXT NOT NULL,
        summary_sum INTEGER NOT NULL,
        turns TEXT NOT NULL,
        places BLOB NOT NULL,       -- per turn, where its records stand
        last_place INTEGER,         -- the last of these records, to tell growth from replacement
        last_hash INTEGER,
        sum INTEGER NOT NULL,       -- of all before it
        worded BLOB NOT NULL,       -- per turn, how many of its records are in the full text
        worded_sum INTEGER NOT NULL
    );
    CREATE TABLE document (
        key INTEGER PRIMARY KEY,    -- newer text has higher numbers
        journal INTEGER NOT NULL,   -- 0: it no longer holds
        first INTEGER NOT NULL,     -- the turns whose words it holds
        last INTEGER NOT NULL,
        newest INTEGER NOT NULL,    -- none of them began later, in milliseconds since 1970
        sum INTEGER NOT NULL
    );
    CREATE INDEX document_of ON document (journal);
    CREATE TABLE contents (         -- one row: which segments there are, and which turns have several documents
        key INTEGER PRIMARY KEY,
        contents TEXT NOT NULL,
        sum INTEGER NOT NULL
    );
    CREATE TABLE block (            -- sorted words and the documents they stand in
        segment INTEGER NOT NULL,
        first BLOB NOT NULL,        -- the first word of it
        next BLOB,                  -- the first word of the next block
        data BLOB NOT NULL,
        sum INTEGER NOT NULL
    );
    CREATE INDEX block_at ON block (segment, first);
";

/// The open cache.
pub(crate) struct Database {
    pub(crate) connection: Connection,
}

/// What the cache holds of a journal, besides its turns.
#[derive(PartialEq)]
pub(crate) struct JournalRow {
    pub(crate) key: i64,
    pub(crate) standing: JournalState,
    pub(crate) worded: bool,
    pub(crate) used: Option<i64>,
    pub(crate) project: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) unended: bool,
}

/// A piece of the full text.
pub(crate) struct Document {
    pub(crate) key: i64,
    pub(crate) journal: i64,
    pub(crate) first: usize,
    pub(crate) last: usize,
    /// None of its turns began later, in milliseconds since 1970.
    pub(crate) newest: i64,
}

impl Database {
    /// Opens the cache in a directory; makes it, or makes it anew, where that is needed.
    pub(crate) fn open(directory: &Path) -> Result<Self, Failure> {
        match Self::open_as_it_is(directory) {
            Err(Failure::Ruined) => Self::replace(directory),
            opened => opened,
        }
    }

    /// Opens the cache if there is one that can be used as it is.
    pub(crate) fn open_existing(directory: &Path) -> Option<Self> {
        if directory.join(NAME).exists() { Self::open_as_it_is(directory).ok() } else { None }
    }

    /// Throws the cache away and makes an empty one. Who has the old one open keeps it to the end.
    pub(crate) fn replace(directory: &Path) -> Result<Self, Failure> {
        for suffix in ["", "-wal", "-shm", "-journal"] {
            let _ = fs::remove_file(directory.join(format!("{NAME}{suffix}")));
        }
        Self::open_as_it_is(directory)
    }

    fn open_as_it_is(directory: &Path) -> Result<Self, Failure> {
        private::create_dir(directory)?;
        let path = directory.join(NAME);
        // SQLite gives the files beside it the same permissions.
        private::open(OpenOptions::new().read(true).write(true).create(true).truncate(false), &path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&path, flags)?;
        connection.busy_timeout(PATIENCE)?;
        match user_version(&connection)? {
            SCHEMA => {}
            0 => make(&connection)?,
            _ => return Err(Failure::Ruined),
        }
        // After a loss of power the file is whole, if not up to date.
        connection.execute_batch("PRAGMA synchronous = NORMAL; PRAGMA cache_size = -16384;")?;
        Ok(Database { connection })
    }

    /// What is known of all journals.
    pub(crate) fn known(&self) -> Result<Vec<JournalRow>, Failure> {
        let mut statement = self.connection.prepare(
            "SELECT key, id, file, bytes, modified, worded, used, project, name, unended, sum FROM journal",
        )?;
        let rows = statement.query_map([], known)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// How many journals are known.
    pub(crate) fn count(&self) -> Result<usize, Failure> {
        let count: i64 = self.connection.query_row("SELECT count(*) FROM journal", [], |row| row.get(0))?;
        Ok(count as usize)
    }

    /// What is known of some journals.
    pub(crate) fn known_of(&self, standings: &[JournalState]) -> Result<Vec<JournalRow>, Failure> {
        let mut statement = self.connection.prepare(
            "SELECT key, id, file, bytes, modified, worded, used, project, name, unended, sum FROM journal WHERE id = ?",
        )?;
        let mut found = Vec::new();
        for standing in standings {
            found.extend(statement.query_row([id_bytes(standing.id)], known).optional()?);
        }
        Ok(found)
    }

    /// The summaries of some journals, by their keys.
    pub(crate) fn summaries(&self, keys: &[i64]) -> Result<Vec<Summary>, Failure> {
        let mut statement = self
            .connection
            .prepare(&format!("SELECT summary, summary_sum, {ITS_JOURNAL} FROM facts WHERE journal = ?"))?;
        let mut found = Vec::new();
        for key in keys {
            let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
            let (json, sum, journal): (String, i64, i64) = statement.query_row([key], read)?;
            expect(sum, sum_of(journal).bytes(json.as_bytes()))?;
            found.push(serde_json::from_str(&json)?);
        }
        Ok(found)
    }

    /// The keys of the journals whose facts name a turn.
    pub(crate) fn naming(&self, turn: TurnId) -> Result<HashSet<i64>, Failure> {
        let mut statement = self.connection.prepare("SELECT journal FROM facts WHERE instr(turns, ?)")?;
        let rows = statement.query_map([turn.to_string()], |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The facts of a journal.
    pub(crate) fn facts(&self, key: i64) -> Result<Facts, Failure> {
        let query = format!(
            "SELECT summary, turns, places, last_place, last_hash, sum, {ITS_JOURNAL} FROM facts WHERE journal = ?"
        );
        let (summary, turns, places): (String, String, Vec<u8>);
        let (last, sum, journal): (Option<Fingerprint>, i64, i64);
        (summary, turns, places, last, sum, journal) = self.connection.query_row(&query, [key], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, fingerprint(row, 3)?, row.get(5)?, row.get(6)?))
        })?;
        expect(sum, sum_of_facts(journal, &summary, &turns, &places, last))?;
        let turns: Vec<TurnFacts> = serde_json::from_str(&turns)?;
        Ok(Facts { summary: serde_json::from_str(&summary)?, turns, places: unpack(&places)?, last })
    }

    /// The last record of a journal that is known.
    pub(crate) fn last(&self, key: i64) -> Result<Option<Fingerprint>, Failure> {
        Ok(self.facts(key)?.last)
    }

    /// The same without a look at all that is kept with it. It proves itself, where it [holds](Fingerprint::holds).
    pub(crate) fn last_unchecked(&self, key: i64) -> Result<Option<Fingerprint>, Failure> {
        let query = "SELECT last_place, last_hash FROM facts WHERE journal = ?";
        Ok(self.connection.query_row(query, [key], |row| fingerprint(row, 0))?)
    }

    /// How many records of each turn of a journal are in the full text.
    pub(crate) fn worded(&self, key: i64) -> Result<Vec<u64>, Failure> {
        let query = "SELECT worded, worded_sum FROM facts WHERE journal = ?";
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let (packed, sum): (Vec<u8>, i64) = self.connection.query_row(query, [key], read)?;
        expect(sum, sum_of(key).bytes(&packed))?;
        Ok(unpack(&packed)?.into_iter().next().unwrap_or_default())
    }

    /// The documents of a journal.
    pub(crate) fn documents(&self, key: i64) -> Result<Vec<Document>, Failure> {
        let mut statement = self
            .connection
            .prepare("SELECT key, journal, first, last, newest, sum FROM document WHERE journal = ?")?;
        let rows = statement.query_map([key], Document::read)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The documents of some keys, which ascend. Words stand only in those that are there, if no longer in use.
    pub(crate) fn documents_of(&self, keys: &[i64]) -> Result<Vec<Document>, Failure> {
        let columns = "SELECT key, journal, first, last, newest, sum FROM document";
        if keys.len() <= FEW_DOCUMENTS {
            let mut statement = self.connection.prepare(&format!("{columns} WHERE key = ?"))?;
            let read = |key: &i64| Ok(statement.query_row([key], Document::read)?);
            return keys.iter().map(read).collect();
        }
        let mut statement = self.connection.prepare(&format!("{columns} ORDER BY key"))?;
        let mut wanted = keys.iter().peekable();
        let mut found = Vec::with_capacity(keys.len());
        for document in statement.query_map([], Document::read)? {
            let document = document?;
            if wanted.next_if_eq(&&document.key).is_some() {
                found.push(document);
            }
        }
        // One that is missing stops all that come behind it.
        if wanted.next().is_some() { Err(Failure::Ruined) } else { Ok(found) }
    }

    /// Stores the facts of a journal and returns its key. Its words are then to be looked at.
    pub(crate) fn put_facts(
        &self,
        key: Option<i64>,
        standing: &JournalState,
        facts: &Facts,
    ) -> Result<i64, Failure> {
        let worded = key.map_or(Ok(Vec::new()), |key| self.worded(key))?;
        let key = key.map_or_else(|| self.next_key("journal"), Ok)?;
        let Summary { used, project, name, .. } = &facts.summary;
        let modified = nanoseconds(standing.modified);
        let unended = is_unended(facts.summary.state);
        let sum =
            sum_of_journal(key, standing, modified, *used, (project.as_deref(), name.as_deref()), unended);
        self.connection.execute(
            "REPLACE INTO journal (key, id, file, bytes, modified, worded, used, project, name, unended, sum)
             VALUES (?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?)",
            params![
                key,
                id_bytes(standing.id),
                standing.file.cast_signed(),
                standing.bytes.cast_signed(),
                modified,
                used,
                project,
                name,
                i64::from(unended),
                stored(sum)
            ],
        )?;
        let (summary, turns) = (serde_json::to_string(&facts.summary)?, serde_json::to_string(&facts.turns)?);
        let (places, worded, journal) = (pack(&facts.places), pack(&[worded]), stored(sum));
        self.connection.execute(
            "REPLACE INTO facts (journal, summary, summary_sum, turns, places, last_place, last_hash, sum, worded, worded_sum)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            params![
                key,
                summary,
                stored(sum_of(journal).bytes(summary.as_bytes())),
                turns,
                places,
                facts.last.map(|last| last.place.cast_signed()),
                facts.last.map(|last| last.hash.cast_signed()),
                stored(sum_of_facts(journal, &summary, &turns, &places, facts.last)),
                worded,
                stored(sum_of(key).bytes(&worded))
            ],
        )?;
        Ok(key)
    }

    pub(crate) fn next_key(&self, table: &str) -> Result<i64, Failure> {
        let query = format!("SELECT coalesce(max(key), 0) + 1 FROM {table}");
        Ok(self.connection.query_row(&query, [], |row| row.get(0))?)
    }

    /// Notes that the words of a journal are all there.
    pub(crate) fn put_worded(&self, key: i64, worded: Vec<u64>) -> Result<(), Failure> {
        let sum: i64 =
            self.connection.query_row("SELECT sum FROM journal WHERE key = ?", [key], |row| row.get(0))?;
        let all_worded = params![worded_mark(sum), key];
        self.connection.execute("UPDATE journal SET worded = ? WHERE key = ?", all_worded)?;
        let packed = pack(&[worded]);
        let sum = stored(sum_of(key).bytes(&packed));
        self.connection.execute(
            "UPDATE facts SET worded = ?, worded_sum = ? WHERE journal = ?",
            params![packed, sum, key],
        )?;
        Ok(())
    }

    /// Adds a document and returns its key.
    pub(crate) fn put_document(
        &self,
        journal: i64,
        turns: (usize, usize),
        newest: i64,
        part: bool,
    ) -> Result<i64, Failure> {
        let (first, last) = turns;
        let document = Document { key: self.next_key("document")?, journal, first, last, newest };
        self.write_document(&document)?;
        if part {
            let mut catalog = self.catalog()?;
            catalog.divide(&document);
            self.put_catalog(&catalog)?;
        }
        Ok(document.key)
    }

    fn write_document(&self, document: &Document) -> Result<(), Failure> {
        let Document { key, journal, first, last, newest } = document;
        self.connection.execute(
            "REPLACE INTO document (key, journal, first, last, newest, sum) VALUES (?, ?, ?, ?, ?, ?)",
            params![key, journal, first.cast_signed(), last.cast_signed(), newest, stored(document.sum())],
        )?;
        Ok(())
    }

    /// Puts a document out of use. Its words go when segments are merged; its row stays, so that it can
    /// be told from one that was lost.
    pub(crate) fn remove_document(&self, key: i64) -> Result<(), Failure> {
        self.write_document(&Document { key, journal: NO_JOURNAL, first: 0, last: 0, newest: 0 })?;
        let mut catalog = self.catalog()?;
        if catalog.unite(key) {
            self.put_catalog(&catalog)?;
        }
        Ok(())
    }

    /// Removes all that is known of a journal.
    pub(crate) fn forget(&self, key: i64) -> Result<(), Failure> {
        for document in self.documents(key)? {
            self.remove_document(document.key)?;
        }
        self.connection.execute("DELETE FROM facts WHERE journal = ?", [key])?;
        self.connection.execute("DELETE FROM journal WHERE key = ?", [key])?;
        Ok(())
    }

    /// From here on, and up to [`Database::release`], only what stands there now is seen, whatever
    /// other processes do.
    pub(crate) fn hold(&self) -> Result<(), Failure> {
        self.release()?;
        Ok(self.connection.execute_batch("BEGIN")?)
    }

    /// Ends what [`Database::hold`] began.
    pub(crate) fn release(&self) -> Result<(), Failure> {
        if self.connection.is_autocommit() { Ok(()) } else { self.commit() }
    }

    /// Begins to write. Where the last documents are lost, their keys would be given to others, and with them
    /// their words.
    pub(crate) fn begin(&self) -> Result<(), Failure> {
        self.connection.execute_batch("BEGIN IMMEDIATE")?;
        if self.next_key("document")? <= self.catalog()?.last_document {
            return Err(Failure::Ruined);
        }
        Ok(())
    }

    pub(crate) fn rollback(&self) -> Result<(), Failure> {
        Ok(self.connection.execute_batch("ROLLBACK")?)
    }

    pub(crate) fn commit(&self) -> Result<(), Failure> {
        Ok(self.connection.execute_batch("COMMIT")?)
    }
}

impl Document {
    pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let turn = |at| row.get(at).map(|turn: i64| turn as usize);
        let (key, journal, newest) = (row.get(0)?, row.get(1)?, row.get(4)?);
        let document = Document { key, journal, first: turn(2)?, last: turn(3)?, newest };
        check(row.get(5)?, document.sum())?;
        Ok(document)
    }

    fn sum(&self) -> Checksum {
        sum_of(self.key)
            .number(self.journal.cast_unsigned())
            .number(self.first as u64)
            .number(self.last as u64)
            .number(self.newest.cast_unsigned())
    }
}

/// The journal of documents that are out of use.
pub(crate) const NO_JOURNAL: i64 = 0;

/// The sum of facts begins with that of the row they belong to: those of another time are no good.
const ITS_JOURNAL: &str = "(SELECT journal.sum FROM journal WHERE journal.key = facts.journal)";

/// The sum of a row begins with its key: a row in the place of another is no better than a damaged one.
pub(crate) fn sum_of(key: i64) -> Checksum {
    Checksum::default().number(key.cast_unsigned())
}

/// As SQLite keeps it.
pub(crate) fn stored(sum: Checksum) -> i64 {
    sum.sum().cast_signed()
}

/// What is stored is not what was written.
pub(crate) fn expect(found: i64, sum: Checksum) -> Result<(), Failure> {
    if found == stored(sum) { Ok(()) } else { Err(Failure::Ruined) }
}

/// The same for those who read rows.
fn check(found: i64, sum: Checksum) -> rusqlite::Result<()> {
    if found == stored(sum) { Ok(()) } else { Err(rusqlite::Error::InvalidQuery) }
}

/// How it is noted in a row with this sum that all words are there.
fn worded_mark(sum: i64) -> i64 {
    stored(Checksum::default().number(sum.cast_unsigned()))
}

fn sum_of_journal(
    key: i64,
    standing: &JournalState,
    modified: i64,
    used: Option<i64>,
    (project, name): (Option<&str>, Option<&str>),
    unended: bool,
) -> Checksum {
    let text = |sum: Checksum, text: Option<&str>| {
        sum.number(u64::from(text.is_some())).bytes(text.unwrap_or_default().as_bytes())
    };
    let sum = sum_of(key).bytes(&id_bytes(standing.id)).number(standing.file).number(standing.bytes);
    let sum = sum.number(modified.cast_unsigned());
    let sum = sum.number(u64::from(used.is_some())).number(used.unwrap_or_default().cast_unsigned());
    text(text(sum, project), name).number(u64::from(unended))
}

fn sum_of_facts(
    journal: i64,
    summary: &str,
    turns: &str,
    places: &[u8],
    last: Option<Fingerprint>,
) -> Checksum {
    let sum = sum_of(journal).bytes(summary.as_bytes()).bytes(turns.as_bytes()).bytes(places);
    match last {
        Some(last) => sum.number(last.place).number(last.hash),
        None => sum,
    }
}

fn fingerprint(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<Fingerprint>> {
    let number = |at: usize| row.get(at).map(|number: Option<i64>| number.map(i64::cast_unsigned));
    let both = number(at)?.zip(number(at + 1)?);
    Ok(both.map(|(place, hash)| Fingerprint { place, hash }))
}

fn user_version(connection: &Connection) -> Result<i64, Failure> {
    Ok(connection.query_row("PRAGMA user_version", [], |row| row.get(0))?)
}

/// Makes the tables, unless another process just did.
fn make(connection: &Connection) -> Result<(), Failure> {
    connection.execute_batch("PRAGMA page_size = 8192;")?;
    connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    connection.execute_batch("BEGIN IMMEDIATE")?;
    if user_version(connection)? == 0 {
        connection.execute_batch(TABLES)?;
        put_catalog(connection, &Catalog::default())?;
        connection.execute_batch(&format!("PRAGMA user_version = {SCHEMA};"))?;
    }
    Ok(connection.execute_batch("COMMIT")?)
}

fn known(row: &Row<'_>) -> rusqlite::Result<JournalRow> {
    let id: [u8; 16] = row.get(1)?;
    let number = |at| row.get(at).map(|number: i64| number.cast_unsigned());
    let modified: i64 = row.get(4)?;
    let standing = JournalState {
        id: ConversationId::new(Uuid::from_bytes(id)),
        file: number(2)?,
        bytes: number(3)?,
        modified: UNIX_EPOCH + Duration::from_nanos(modified.cast_unsigned()),
    };
    let (key, used): (i64, Option<i64>) = (row.get(0)?, row.get(6)?);
    let (project, name): (Option<String>, Option<String>) = (row.get(7)?, row.get(8)?);
    let (unended, sum): (bool, i64) = (row.get(9)?, row.get(10)?);
    let texts = (project.as_deref(), name.as_deref());
    check(sum, sum_of_journal(key, &standing, modified, used, texts, unended))?;
    let worded: i64 = row.get(5)?;
    if worded != 0 && worded != worded_mark(sum) {
        return Err(rusqlite::Error::InvalidQuery);
    }
    Ok(JournalRow { key, standing, worded: worded != 0, used, project, name, unended })
}

fn id_bytes(id: ConversationId) -> [u8; 16] {
    *id.uuid().as_bytes()
}

/// Since 1970; files from before are taken as of then, and are read anew every time.
fn nanoseconds(time: SystemTime) -> i64 {
    time.duration_since(UNIX_EPOCH).ok().and_then(|since| i64::try_from(since.as_nanos()).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_do_not_change_without_a_new_number() {
        let sum = Checksum::of(TABLES.as_bytes());
        assert_eq!(
            (SCHEMA, sum),
            (8, 14_368_419_906_211_591_120),
            "raise SCHEMA with every change of TABLES"
        );
    }
}
