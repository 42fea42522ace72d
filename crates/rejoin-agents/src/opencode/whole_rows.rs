//! A whole session in the database: its row, its messages and their parts.

use std::io;

use super::sessions::Reading;
use super::sqlite::{Value, broken};
use super::whole_session::{self, AboutSession, StoredMessage};
use crate::stored_sessions::{LARGEST_SESSION, StoredSession, WholeSession, too_large};

/// Of rows that are longer, the rest is not read: they are then not understood, and counted as such.
const LONGEST_ROW: usize = 64 << 20;
/// Nobody has so many messages in a session, or parts in a message.
const MOST_ROWS: usize = 1_000_000;

/// Reads a session.
pub(super) fn read(reading: &mut Reading<'_>, session: &StoredSession) -> io::Result<WholeSession> {
    let mut about = None;
    reading.database.each_row(&reading.sessions, LONGEST_ROW, &mut |row| {
        if about.is_none() && row.text("id") == Some(&session.id) {
            let text = |column: &str| row.text(column).map(str::to_owned);
            about = Some(AboutSession {
                id: session.id.clone(),
                parent: text("parent_id"),
                title: text("title"),
                dir: text("directory"),
                revert: text("revert"),
            });
        }
        Ok(())
    })?;
    let about =
        about.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "the session is not in the database"))?;
    let mut size = 0;
    let mut messages = Vec::new();
    for row in rows(reading, reading.messages_of, &session.id)? {
        let found = reading.database.row(&reading.messages, row, LONGEST_ROW, |row| {
            let (id, data) = (row.text("id")?, row.text("data").unwrap_or_default());
            Some((row.number("time_created"), id.to_owned(), data.to_owned()))
        })?;
        let message = found.flatten().ok_or_else(|| broken("a message is not there"))?;
        grow(&mut size, message.2.len())?;
        messages.push(message);
    }
    messages.sort();
    let mut whole = whole_session::Reading::new(about);
    for (_, id, data) in messages {
        let parts = parts(reading, &id, &mut size)?;
        whole.take(StoredMessage { id, data, parts });
    }
    Ok(whole.finish())
}

fn parts(reading: &mut Reading<'_>, message: &str, size: &mut u64) -> io::Result<Vec<(String, String)>> {
    let mut parts = Vec::new();
    for row in rows(reading, reading.parts_of, message)? {
        let found = reading.database.row(&reading.parts, row, LONGEST_ROW, |row| {
            Some((row.text("id")?.to_owned(), row.text("data").unwrap_or_default().to_owned()))
        })?;
        let part: (String, String) = found.flatten().ok_or_else(|| broken("a part is not there"))?;
        grow(size, part.1.len())?;
        parts.push(part);
    }
    parts.sort();
    Ok(parts)
}

/// The rows an index names under a text.
fn rows(reading: &mut Reading<'_>, index: u32, key: &str) -> io::Result<Vec<i64>> {
    let mut rows = Vec::new();
    reading.database.each_entry(index, key, &mut |entry| {
        if let Some(Value::Integer(row)) = entry.last()
            && rows.len() <= MOST_ROWS
        {
            rows.push(*row);
        }
    })?;
    if rows.len() > MOST_ROWS { Err(too_large()) } else { Ok(rows) }
}

fn grow(size: &mut u64, by: usize) -> io::Result<()> {
    *size += by as u64;
    if *size > LARGEST_SESSION { Err(too_large()) } else { Ok(()) }
}
