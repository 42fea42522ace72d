//! Just enough of SQLite's file format to look one thing up in a database of somebody else's,
//! without a lock and without writing: the entries of an index that begin with a text.
//!
//! What is not understood is an error, never an answer: the caller then knows nothing.
//!
//! Why not SQLite's own library: opened for reading it leaves `-shm` and `-wal` beside a database that was
//! closed, and told that nothing changes it passes over the log, where everything may be.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use rejoin_files::open_regular_file;

use super::sqlite_log::Log;

/// More pages than any look-up needs: a database that says otherwise is broken.
const MOST_PAGES: usize = 20_000;
/// How many times a database is read anew that was written to in the meantime.
const MOST_TRIES: usize = 20;

/// A database opened for reading.
pub(super) struct Database {
    file: File,
    log: Log,
    page_size: usize,
    pub(super) usable: usize,
    pages_read: usize,
    most_pages: usize,
}

/// The entries of an index under one text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Entries {
    /// How many.
    pub(super) count: u64,
    /// The row of the last one.
    pub(super) last: i64,
}

pub(super) fn broken(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// There are zeros where the database should be.
#[derive(Debug, thiserror::Error)]
#[error("zeros instead of a page")]
struct Zeros;

/// Whether something could not be read because it is all zeros.
pub(super) fn is_zeroed(error: &io::Error) -> bool {
    error.get_ref().and_then(|cause| cause.downcast_ref::<Zeros>()).is_some()
}

/// What is read of a page that should be something else.
pub(super) fn not_a(what: &str, kind: u8) -> io::Error {
    // No page of a tree has this kind.
    if kind == 0 { io::Error::new(io::ErrorKind::InvalidData, Zeros) } else { broken(what) }
}

/// Looks something up in a database; `None` if there is none, or nothing is in it yet. Nobody is kept from
/// writing meanwhile: what was then read is a mixture, and is read again.
pub(super) fn read<T>(path: &Path, look: impl Fn(&mut Database) -> io::Result<T>) -> io::Result<Option<T>> {
    read_pages(path, MOST_PAGES, look)
}

/// The same, for what takes more pages than a look-up.
pub(super) fn read_pages<T>(
    path: &Path,
    most_pages: usize,
    look: impl Fn(&mut Database) -> io::Result<T>,
) -> io::Result<Option<T>> {
    for _ in 0..MOST_TRIES {
        let Some(mut database) = Database::open(path)? else { return Ok(None) };
        database.most_pages = most_pages;
        let found = match database.holds_anything() {
            Ok(true) => look(&mut database).map(Some),
            Ok(false) => Ok(None),
            Err(error) => Err(error),
        };
        if !database.log.has_moved()? {
            return found;
        }
    }
    Err(broken("it is written to all the time"))
}

impl Database {
    /// Opens a database with its write-ahead log.
    fn open(path: &Path) -> io::Result<Option<Self>> {
        let mut file = match open_regular_file(path) {
            Ok((file, _)) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut head = [0; 100];
        file.read_exact(&mut head)?;
        if &head[..16] != b"SQLite format 3\0" {
            return Err(not_a("not a database", head.iter().fold(0, |all, byte| all | byte)));
        }
        let page_size = match u16::from_be_bytes([head[16], head[17]]) {
            1 => 65536,
            size => usize::from(size),
        };
        if page_size < 512 {
            return Err(broken("odd size of pages"));
        }
        let log = Log::read(path, page_size)?;
        Ok(Some(Self { file, log, page_size, usable: page_size, pages_read: 0, most_pages: MOST_PAGES }))
    }

    /// Whether it holds anything: a new one has nothing yet. The rest of the head counts as it stands in the
    /// log, and like everything that is read it counts only if the log did not move meanwhile.
    fn holds_anything(&mut self) -> io::Result<bool> {
        let first = self.page(1)?;
        if first[56..60] == [0; 4] && Page::new(&first, 100)?.count == 0 {
            return Ok(false);
        }
        if first[56..60] != [0, 0, 0, 1] {
            return Err(broken("not in UTF-8"));
        }
        self.usable = self.page_size.saturating_sub(usize::from(first[20]));
        if self.usable < 480 {
            return Err(broken("odd size of pages"));
        }
        Ok(true)
    }

    /// What stands under `key` in an index of `table` whose first column is `column`; an error if
    /// there is no such index.
    pub(super) fn entries(&mut self, table: &str, column: &str, key: &str) -> io::Result<Entries> {
        let root = self.index_on(table, column)?.ok_or_else(|| broken("no such index"))?;
        let mut entries = Entries::default();
        self.each_entry(root, key, &mut |entry| {
            entries.count += 1;
            if let Some(Value::Integer(row)) = entry.last() {
                entries.last = *row;
            }
        })?;
        Ok(entries)
    }

    /// Whether anything stands in an index of `table` whose first column is `column`; nothing does if
    /// there is no such index.
    pub(super) fn has_any(&mut self, table: &str, column: &str) -> io::Result<bool> {
        let Some(root) = self.index_on(table, column)? else { return Ok(false) };
        let page = self.page(root)?;
        Ok(Page::new(&page, 0)?.cells().next().is_some())
    }

    pub(super) fn page(&mut self, number: u32) -> io::Result<Vec<u8>> {
        self.pages_read += 1;
        if number == 0 || self.pages_read > self.most_pages {
            return Err(broken("no such page, or too many"));
        }
        let mut page = vec![0; self.page_size];
        if !self.log.page(number, &mut page)? {
            self.file.seek(SeekFrom::Start(u64::from(number - 1) * self.page_size as u64))?;
            self.file.read_exact(&mut page)?;
        }
        Ok(page)
    }

    /// The root page of the table's index whose first column this is.
    pub(super) fn index_on(&mut self, table: &str, column: &str) -> io::Result<Option<u32>> {
        self.root_of("index", table, |sql| first_column(sql).is_some_and(|first| first == column))
    }

    /// The root page of what a table has of a kind, from the table of tables on page 1.
    fn root_of(&mut self, kind: &str, table: &str, is_it: impl Fn(&[u8]) -> bool) -> io::Result<Option<u32>> {
        let mut open = vec![1];
        while let Some(number) = open.pop() {
            let page = self.page(number)?;
            let page = Page::new(&page, if number == 1 { 100 } else { 0 })?;
            match page.kind {
                0x05 => {
                    open.push(page.rightmost()?);
                    for cell in page.cells() {
                        open.push(page.number_at(cell?)?);
                    }
                }
                0x0d => {
                    for cell in page.cells() {
                        let row = page.row(cell?, self.usable)?;
                        let text = |at: usize| row.get(at).copied().and_then(Value::text).unwrap_or_default();
                        let ours =
                            text(0) == kind.as_bytes() && text(2) == table.as_bytes() && is_it(text(4));
                        if let (true, Some(Value::Integer(root))) = (ours, row.get(3)) {
                            return Ok(u32::try_from(*root).ok());
                        }
                    }
                }
                kind => return Err(not_a("not a table", kind)),
            }
        }
        Ok(None)
    }

    /// Whether a table holds a row; an error if there is no such table.
    pub(super) fn has_row(&mut self, table: &str, row: i64) -> io::Result<bool> {
        let table = self.table(table)?;
        Ok(self.row(&table, row, 0, |_| ())?.is_some())
    }
}

/// The first column of `CREATE INDEX … ON … (first, …)`.
fn first_column(sql: &[u8]) -> Option<&str> {
    let sql = std::str::from_utf8(sql).ok()?;
    let (_, columns) = sql.split_once('(')?;
    let first = columns.split([',', ')']).next()?;
    Some(first.trim_matches(|c: char| c.is_whitespace() || matches!(c, '`' | '"' | '[' | ']')))
}

#[derive(Clone, Copy)]
pub(super) enum Value<'a> {
    Integer(i64),
    Text(&'a [u8]),
    Other,
}

impl<'a> Value<'a> {
    pub(super) fn text(self) -> Option<&'a [u8]> {
        match self {
            Value::Text(text) => Some(text),
            Value::Integer(_) | Value::Other => None,
        }
    }
}

/// A page of a tree.
pub(super) struct Page<'a> {
    pub(super) bytes: &'a [u8],
    head: usize,
    pub(super) kind: u8,
    count: usize,
}

impl<'a> Page<'a> {
    pub(super) fn new(bytes: &'a [u8], head: usize) -> io::Result<Self> {
        match bytes.get(head..head + 5) {
            Some(&[kind, _, _, high, low]) => {
                Ok(Self { bytes, head, kind, count: usize::from(u16::from_be_bytes([high, low])) })
            }
            _ => Err(broken("a short page")),
        }
    }

    pub(super) fn number_at(&self, at: usize) -> io::Result<u32> {
        let word = self.bytes.get(at..at + 4).ok_or_else(|| broken("a short page"))?;
        Ok(u32::from_be_bytes([word[0], word[1], word[2], word[3]]))
    }

    pub(super) fn rightmost(&self) -> io::Result<u32> {
        self.number_at(self.head + 8)
    }

    /// Where each cell begins.
    pub(super) fn cells(&self) -> impl Iterator<Item = io::Result<usize>> {
        let first = self.head + if matches!(self.kind, 0x02 | 0x05) { 12 } else { 8 };
        (0..self.count).map(move |number| {
            let at = first + 2 * number;
            let pointer = self.bytes.get(at..at + 2).ok_or_else(|| broken("a short page"))?;
            Ok(usize::from(u16::from_be_bytes([pointer[0], pointer[1]])))
        })
    }

    /// The values of a row of a table, as far as they lie on this page.
    fn row(&self, cell: usize, usable: usize) -> io::Result<Vec<Value<'a>>> {
        let (size, at) = varint(self.bytes, cell)?;
        let (_, at) = varint(self.bytes, at)?;
        let fits = usable - 35;
        let here = if size as usize <= fits { size as usize } else { on_page(size as usize, usable, fits) };
        values(self.bytes.get(at..at + here).ok_or_else(|| broken("a short cell"))?)
    }

    /// The values of an entry of an index.
    pub(super) fn entry(&self, cell: usize, usable: usize) -> io::Result<Vec<Value<'a>>> {
        let (size, at) = varint(self.bytes, cell)?;
        if size as usize > (usable - 12) * 64 / 255 - 23 {
            return Err(broken("an entry on several pages"));
        }
        values(self.bytes.get(at..at + size as usize).ok_or_else(|| broken("a short cell"))?)
    }
}

/// How much of a long row lies on the page of its cell.
pub(super) fn on_page(size: usize, usable: usize, fits: usize) -> usize {
    let least = (usable - 12) * 32 / 255 - 23;
    let here = least + (size - least) % (usable - 4);
    if here <= fits { here } else { least }
}

/// The values of a record; those that lie elsewhere are cut.
pub(super) fn values(record: &[u8]) -> io::Result<Vec<Value<'_>>> {
    let (head, mut at) = varint(record, 0)?;
    let head = usize::try_from(head).unwrap_or(usize::MAX);
    let mut body = head;
    let mut values = Vec::new();
    while at < head {
        let (kind, next) = varint(record, at)?;
        at = next;
        let size = match kind {
            0 | 8 | 9 => 0,
            1..=4 => kind as usize,
            5 => 6,
            6 | 7 => 8,
            10 | 11 => return Err(broken("an odd value")),
            _ => usize::try_from((kind - 12) / 2).unwrap_or(usize::MAX),
        };
        let end = body.saturating_add(size).min(record.len());
        let bytes = record.get(body.min(end)..end).unwrap_or_default();
        values.push(match kind {
            1..=6 => Value::Integer(integer(bytes)),
            8 | 9 => Value::Integer(i64::from(kind == 9)),
            kind if kind >= 13 && kind % 2 == 1 => Value::Text(bytes),
            _ => Value::Other,
        });
        body = end;
    }
    Ok(values)
}

fn integer(bytes: &[u8]) -> i64 {
    let sign = if bytes.first().is_some_and(|byte| byte & 0x80 != 0) { -1 } else { 0 };
    bytes.iter().fold(sign, |value, byte| (value << 8) | i64::from(*byte))
}

/// A number of variable length, and where it ends.
pub(super) fn varint(bytes: &[u8], at: usize) -> io::Result<(u64, usize)> {
    let mut value = 0_u64;
    for (length, byte) in bytes.get(at..).unwrap_or_default().iter().take(9).enumerate() {
        if length == 8 {
            return Ok(((value << 8) | u64::from(*byte), at + 9));
        }
        value = (value << 7) | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Ok((value, at + length + 1));
        }
    }
    Err(broken("a short number"))
}
