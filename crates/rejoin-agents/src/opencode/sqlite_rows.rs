//! Whole rows of somebody else's SQLite database: by the names of their columns, also where they lie on several pages.

use std::collections::HashMap;
use std::io;

use super::sqlite::{Database, Page, Value, broken, not_a, on_page, values, varint};

/// Trees are never deeper.
const DEEPEST: usize = 20;

/// A table: where its rows are, and what its columns are called.
pub(super) struct Table {
    root: u32,
    columns: HashMap<String, usize>,
}

/// A row of a table. Those written before a column was added are shorter.
pub(super) struct Row<'a> {
    values: Vec<Value<'a>>,
    columns: &'a HashMap<String, usize>,
}

impl Row<'_> {
    /// A text; `None` if there is none, or it is not one.
    pub(super) fn text(&self, column: &str) -> Option<&str> {
        std::str::from_utf8(self.value(column)?.text()?).ok()
    }

    /// A number.
    pub(super) fn number(&self, column: &str) -> Option<i64> {
        match self.value(column)? {
            Value::Integer(number) => Some(number),
            Value::Text(_) | Value::Other => None,
        }
    }

    fn value(&self, column: &str) -> Option<Value<'_>> {
        self.values.get(*self.columns.get(column)?).copied()
    }
}

impl Database {
    /// A table by its name.
    pub(super) fn table(&mut self, name: &str) -> io::Result<Table> {
        let master = Table {
            root: 1,
            columns: ["type", "name", "tbl_name", "rootpage", "sql"]
                .map(str::to_owned)
                .into_iter()
                .zip(0..)
                .collect(),
        };
        let mut found = None;
        self.each_row(&master, 64 << 10, &mut |row| {
            if row.text("type") == Some("table") && row.text("name") == Some(name) {
                let root = row.number("rootpage").and_then(|root| u32::try_from(root).ok());
                found =
                    root.map(|root| Table { root, columns: columns(row.text("sql").unwrap_or_default()) });
            }
            Ok(())
        })?;
        found.ok_or_else(|| broken("no such table"))
    }

    /// Goes through the rows of a table in the order they were made. Of a long one so many bytes are read.
    pub(super) fn each_row(
        &mut self,
        table: &Table,
        longest: usize,
        take: &mut dyn FnMut(&Row<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        self.each_row_below(table.root, table, longest, take, 0)
    }

    fn each_row_below(
        &mut self,
        number: u32,
        table: &Table,
        longest: usize,
        take: &mut dyn FnMut(&Row<'_>) -> io::Result<()>,
        depth: usize,
    ) -> io::Result<()> {
        if depth > DEEPEST {
            return Err(broken("too deep"));
        }
        let bytes = self.page(number)?;
        let page = Page::new(&bytes, head_of(number))?;
        match page.kind {
            0x05 => {
                let mut below = Vec::new();
                for cell in page.cells() {
                    below.push(page.number_at(cell?)?);
                }
                below.push(page.rightmost()?);
                for number in below {
                    self.each_row_below(number, table, longest, take, depth + 1)?;
                }
            }
            0x0d => {
                for cell in page.cells() {
                    let record = self.record(&bytes, cell?, longest)?;
                    take(&Row { values: values(&record)?, columns: &table.columns })?;
                }
            }
            kind => return Err(not_a("not a table", kind)),
        }
        Ok(())
    }

    /// One row of a table, by its number.
    pub(super) fn row<T>(
        &mut self,
        table: &Table,
        row: i64,
        longest: usize,
        take: impl FnOnce(&Row<'_>) -> T,
    ) -> io::Result<Option<T>> {
        let mut number = table.root;
        for _ in 0..DEEPEST {
            let bytes = self.page(number)?;
            let page = Page::new(&bytes, head_of(number))?;
            match page.kind {
                // The greatest row below each of them, in order.
                0x05 => {
                    let mut below = None;
                    for cell in page.cells() {
                        let cell = cell?;
                        if row <= varint(&bytes, cell + 4)?.0.cast_signed() {
                            below = Some(page.number_at(cell)?);
                            break;
                        }
                    }
                    number = below.map_or_else(|| page.rightmost(), Ok)?;
                }
                0x0d => {
                    for cell in page.cells() {
                        let cell = cell?;
                        let (_, at) = varint(&bytes, cell)?;
                        if varint(&bytes, at)?.0.cast_signed() == row {
                            let record = self.record(&bytes, cell, longest)?;
                            return Ok(Some(take(&Row {
                                values: values(&record)?,
                                columns: &table.columns,
                            })));
                        }
                    }
                    return Ok(None);
                }
                kind => return Err(not_a("not a table", kind)),
            }
        }
        Err(broken("too deep"))
    }

    /// The record of a cell, up to so many bytes: what does not fit on its page goes on elsewhere.
    fn record(&mut self, bytes: &[u8], cell: usize, longest: usize) -> io::Result<Vec<u8>> {
        let (size, at) = varint(bytes, cell)?;
        let (_, at) = varint(bytes, at)?;
        let size = usize::try_from(size).map_err(|_| broken("too long a row"))?;
        let fits = self.usable - 35;
        let here = if size <= fits { size } else { on_page(size, self.usable, fits) };
        let mut record = bytes.get(at..at + here).ok_or_else(|| broken("a short cell"))?.to_vec();
        if size <= fits {
            return Ok(record);
        }
        let mut next = next_page(bytes, at + here)?;
        while next != 0 && record.len() < size.min(longest) {
            let page = self.page(next)?;
            let rest = (size - record.len()).min(self.usable - 4);
            record.extend_from_slice(page.get(4..4 + rest).ok_or_else(|| broken("a short page"))?);
            next = next_page(&page, 0)?;
        }
        Ok(record)
    }

    /// The entries of an index under a text, in order, each with its values; the last one is the number of the row.
    pub(super) fn each_entry(
        &mut self,
        index: u32,
        key: &str,
        take: &mut dyn FnMut(&[Value<'_>]),
    ) -> io::Result<()> {
        self.each_entry_below(index, key.as_bytes(), take, 0)
    }

    fn each_entry_below(
        &mut self,
        number: u32,
        key: &[u8],
        take: &mut dyn FnMut(&[Value<'_>]),
        depth: usize,
    ) -> io::Result<()> {
        if depth > DEEPEST {
            return Err(broken("too deep"));
        }
        let bytes = self.page(number)?;
        let page = Page::new(&bytes, 0)?;
        let inner = match page.kind {
            0x02 => true,
            0x0a => false,
            kind => return Err(not_a("not an index", kind)),
        };
        for cell in page.cells() {
            let cell = cell?;
            let entry = page.entry(if inner { cell + 4 } else { cell }, self.usable)?;
            let first = entry.first().copied().and_then(Value::text).unwrap_or_default();
            if first < key {
                continue;
            }
            if inner {
                self.each_entry_below(page.number_at(cell)?, key, take, depth + 1)?;
            }
            if first > key {
                return Ok(());
            }
            take(&entry);
        }
        if inner { self.each_entry_below(page.rightmost()?, key, take, depth + 1) } else { Ok(()) }
    }
}

/// The first page begins with the head of the file.
fn head_of(number: u32) -> usize {
    if number == 1 { 100 } else { 0 }
}

fn next_page(bytes: &[u8], at: usize) -> io::Result<u32> {
    let word = bytes.get(at..at + 4).ok_or_else(|| broken("a short page"))?;
    Ok(u32::from_be_bytes([word[0], word[1], word[2], word[3]]))
}

/// The columns of `CREATE TABLE … (first …, second …, CONSTRAINT …)`. One that was added later stands at the end.
fn columns(sql: &str) -> HashMap<String, usize> {
    let Some((_, list)) = sql.split_once('(') else { return HashMap::new() };
    let mut columns = Vec::new();
    let (mut depth, mut begin) = (0_usize, 0);
    for (at, c) in list.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth > 0 => depth -= 1,
            ')' | ',' if depth == 0 => {
                columns.push(&list[begin..at]);
                begin = at + 1;
                if c == ')' {
                    break;
                }
            }
            _ => {}
        }
    }
    let quotes = |c: char| matches!(c, '`' | '"' | '[' | ']');
    let names = columns.iter().filter_map(|column| column.split_whitespace().next());
    let is_column = |name: &&str| !["CONSTRAINT", "PRIMARY", "FOREIGN", "UNIQUE", "CHECK"].contains(name);
    names.filter(is_column).map(|name| name.trim_matches(quotes).to_owned()).zip(0..).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_known_by_their_names() {
        let sql = "CREATE TABLE `t` (\n `id` text PRIMARY KEY,\n \"kind\" text DEFAULT ('a,b') NOT NULL,\n [size] decimal(10, 2), CONSTRAINT `x` FOREIGN KEY (`id`) REFERENCES `u`(`id`), `added` text)";
        let columns = columns(sql);
        let mut names: Vec<(&str, usize)> = columns.iter().map(|(name, at)| (name.as_str(), *at)).collect();
        names.sort_by_key(|(_, at)| *at);
        assert_eq!(names, [("id", 0), ("kind", 1), ("size", 2), ("added", 3)]);
    }
}
