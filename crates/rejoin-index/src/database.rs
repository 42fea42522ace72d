//! The SQLite file: opened, made, thrown away. Nothing in it is worth keeping.

use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rejoin_core::ConversationId;
use rejoin_journal::{Standing, private};
use rusqlite::{Connection, OpenFlags, OptionalExtension, Row, params};
use uuid::Uuid;

use crate::facts::{Facts, Fingerprint, Summary, TurnFacts};
use crate::failure::Failure;
use crate::numbers::{pack, unpack};

/// Raised whenever the tables, or what is written into them, change: the file is then made anew.
const SCHEMA: i64 = 2;

const NAME: &str = "index.sqlite";

/// How long to wait for another process. A command does not hang because of a cache.
const PATIENCE: Duration = Duration::from_millis(100);

const TABLES: &str = "
    CREATE TABLE journal (
        key INTEGER PRIMARY KEY,
        id BLOB NOT NULL UNIQUE,
        file INTEGER NOT NULL,      -- which file, how long and how old it was when it was read
        bytes INTEGER NOT NULL,
        modified INTEGER NOT NULL,
        worded INTEGER NOT NULL,    -- whether all its words are in the full text
        used INTEGER,               -- when, in milliseconds since 1970
        project TEXT,
        name TEXT
    );
    CREATE TABLE facts (            -- apart from it, so that all journals are looked over quickly
        journal INTEGER PRIMARY KEY,
        summary TEXT NOT NULL,
        turns TEXT NOT NULL,
        places BLOB NOT NULL,       -- per turn, where its records stand
        last_place INTEGER,         -- the last of these records, to tell growth from replacement
        last_hash INTEGER,
        worded BLOB NOT NULL        -- per turn, how many of its records are in the full text
    );
    CREATE TABLE document (
        key INTEGER PRIMARY KEY,    -- newer text has higher numbers
        journal INTEGER NOT NULL,
        first INTEGER NOT NULL,     -- the turns whose words it holds
        last INTEGER NOT NULL,
        part INTEGER NOT NULL       -- it holds only a part of one turn
    );
    CREATE INDEX document_of ON document (journal);
    CREATE INDEX document_part ON document (key) WHERE part;
    CREATE TABLE segment (          -- sorted words and the documents they stand in
        key INTEGER PRIMARY KEY,
        bytes INTEGER NOT NULL
    );
    CREATE TABLE block (
        segment INTEGER NOT NULL,
        first BLOB NOT NULL,        -- the first word of it
        data BLOB NOT NULL
    );
    CREATE INDEX block_at ON block (segment, first);
";

/// The open cache.
pub(crate) struct Database {
    pub(crate) connection: Connection,
}

/// What the cache holds of a journal, besides its turns.
#[derive(PartialEq)]
pub(crate) struct Known {
    pub(crate) key: i64,
    pub(crate) standing: Standing,
    pub(crate) worded: bool,
    pub(crate) used: Option<i64>,
    pub(crate) project: Option<String>,
    pub(crate) name: Option<String>,
}

/// A piece of the full text.
pub(crate) struct Document {
    pub(crate) key: i64,
    pub(crate) journal: i64,
    pub(crate) first: usize,
    pub(crate) last: usize,
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
    pub(crate) fn known(&self) -> Result<Vec<Known>, Failure> {
        let mut statement = self
            .connection
            .prepare("SELECT key, id, file, bytes, modified, worded, used, project, name FROM journal")?;
        let rows = statement.query_map([], known)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// How many journals are known.
    pub(crate) fn count(&self) -> Result<usize, Failure> {
        let count: i64 = self.connection.query_row("SELECT count(*) FROM journal", [], |row| row.get(0))?;
        Ok(count as usize)
    }

    /// What is known of some journals.
    pub(crate) fn known_of(&self, standings: &[Standing]) -> Result<Vec<Known>, Failure> {
        let mut statement = self.connection.prepare(
            "SELECT key, id, file, bytes, modified, worded, used, project, name FROM journal WHERE id = ?",
        )?;
        let mut found = Vec::new();
        for standing in standings {
            found.extend(statement.query_row([id_bytes(standing.id)], known).optional()?);
        }
        Ok(found)
    }

    /// The summaries of some journals, by their keys.
    pub(crate) fn summaries(&self, keys: &[i64]) -> Result<Vec<Summary>, Failure> {
        let mut statement = self.connection.prepare("SELECT summary FROM facts WHERE journal = ?")?;
        let mut found = Vec::new();
        for key in keys {
            let json: String = statement.query_row([key], |row| row.get(0))?;
            found.push(serde_json::from_str(&json)?);
        }
        Ok(found)
    }

    /// The facts of a journal.
    pub(crate) fn facts(&self, key: i64) -> Result<Facts, Failure> {
        let (summary, turns, places, last): (String, String, Vec<u8>, _) = self.connection.query_row(
            "SELECT summary, turns, places, last_place, last_hash FROM facts WHERE journal = ?",
            [key],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, fingerprint(row, 3)?)),
        )?;
        let turns: Vec<TurnFacts> = serde_json::from_str(&turns)?;
        Ok(Facts { summary: serde_json::from_str(&summary)?, turns, places: unpack(&places)?, last })
    }

    /// The last record of a journal that is known.
    pub(crate) fn last(&self, key: i64) -> Result<Option<Fingerprint>, Failure> {
        let query = "SELECT last_place, last_hash FROM facts WHERE journal = ?";
        Ok(self.connection.query_row(query, [key], |row| fingerprint(row, 0))?)
    }

    /// How many records of each turn of a journal are in the full text.
    pub(crate) fn worded(&self, key: i64) -> Result<Vec<u64>, Failure> {
        let packed: Vec<u8> =
            self.connection
                .query_row("SELECT worded FROM facts WHERE journal = ?", [key], |row| row.get(0))?;
        Ok(unpack(&packed)?.into_iter().next().unwrap_or_default())
    }

    /// The documents of a journal.
    pub(crate) fn documents(&self, key: i64) -> Result<Vec<Document>, Failure> {
        let mut statement =
            self.connection.prepare("SELECT key, journal, first, last FROM document WHERE journal = ?")?;
        let rows = statement.query_map([key], Document::read)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Documents that hold only a part of a turn, each with the first one of that turn.
    pub(crate) fn divided(&self) -> Result<HashMap<u64, u64>, Failure> {
        let mut statement = self
            .connection
            .prepare("SELECT key, min(key) OVER (PARTITION BY journal, first) FROM document WHERE part")?;
        let key = |row: &Row<'_>, at| row.get(at).map(i64::cast_unsigned);
        let rows = statement.query_map([], |row| Ok((key(row, 0)?, key(row, 1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Stores the facts of a journal and returns its key. Its words are then to be looked at.
    pub(crate) fn put_facts(
        &self,
        key: Option<i64>,
        standing: &Standing,
        facts: &Facts,
    ) -> Result<i64, Failure> {
        let worded = key.map_or(Ok(Vec::new()), |key| self.worded(key))?;
        let key = key.map_or_else(|| self.next_key("journal"), Ok)?;
        self.connection.execute(
            "REPLACE INTO journal (key, id, file, bytes, modified, worded, used, project, name)
             VALUES (?, ?, ?, ?, ?, 0, ?, ?, ?)",
            params![
                key,
                id_bytes(standing.id),
                standing.file.cast_signed(),
                standing.bytes.cast_signed(),
                nanoseconds(standing.modified),
                facts.summary.used,
                facts.summary.project,
                facts.summary.name
            ],
        )?;
        self.connection.execute(
            "REPLACE INTO facts (journal, summary, turns, places, last_place, last_hash, worded)
             VALUES (?, ?, ?, ?, ?, ?, ?)",
            params![
                key,
                serde_json::to_string(&facts.summary)?,
                serde_json::to_string(&facts.turns)?,
                pack(&facts.places),
                facts.last.map(|last| last.place.cast_signed()),
                facts.last.map(|last| last.hash.cast_signed()),
                pack(&[worded])
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
        self.connection.execute("UPDATE journal SET worded = 1 WHERE key = ?", [key])?;
        self.connection
            .execute("UPDATE facts SET worded = ? WHERE journal = ?", params![pack(&[worded]), key])?;
        Ok(())
    }

    /// Adds a document and returns its key.
    pub(crate) fn put_document(
        &self,
        journal: i64,
        turns: (usize, usize),
        part: bool,
    ) -> Result<i64, Failure> {
        let key = self.next_key("document")?;
        self.connection.execute(
            "INSERT INTO document (key, journal, first, last, part) VALUES (?, ?, ?, ?, ?)",
            params![key, journal, turns.0.cast_signed(), turns.1.cast_signed(), part],
        )?;
        Ok(key)
    }

    /// Removes a document. Its words go when segments are merged.
    pub(crate) fn remove_document(&self, key: i64) -> Result<(), Failure> {
        self.connection.execute("DELETE FROM document WHERE key = ?", [key])?;
        Ok(())
    }

    /// Removes all that is known of a journal.
    pub(crate) fn forget(&self, key: i64) -> Result<(), Failure> {
        self.connection.execute("DELETE FROM document WHERE journal = ?", [key])?;
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

    pub(crate) fn begin(&self) -> Result<(), Failure> {
        Ok(self.connection.execute_batch("BEGIN IMMEDIATE")?)
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
        Ok(Document { key: row.get(0)?, journal: row.get(1)?, first: turn(2)?, last: turn(3)? })
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
        connection.execute_batch(&format!("{TABLES} PRAGMA user_version = {SCHEMA};"))?;
    }
    Ok(connection.execute_batch("COMMIT")?)
}

fn known(row: &Row<'_>) -> rusqlite::Result<Known> {
    let id: [u8; 16] = row.get(1)?;
    let number = |at| row.get(at).map(|number: i64| number.cast_unsigned());
    let standing = Standing {
        id: ConversationId::new(Uuid::from_bytes(id)),
        file: number(2)?,
        bytes: number(3)?,
        modified: UNIX_EPOCH + Duration::from_nanos(number(4)?),
    };
    Ok(Known {
        key: row.get(0)?,
        standing,
        worded: row.get(5)?,
        used: row.get(6)?,
        project: row.get(7)?,
        name: row.get(8)?,
    })
}

fn id_bytes(id: ConversationId) -> [u8; 16] {
    *id.uuid().as_bytes()
}

/// Since 1970; files from before are taken as of then, and are read anew every time.
fn nanoseconds(time: SystemTime) -> i64 {
    time.duration_since(UNIX_EPOCH).ok().and_then(|since| i64::try_from(since.as_nanos()).ok()).unwrap_or(0)
}
