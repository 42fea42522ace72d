//! What a cursor knows of a journal, computed from its bytes, wherever they are.

use std::io::{self, Read, Seek, SeekFrom};

use rejoin_core::ConversationId;
use sha2::{Digest, Sha256};

use crate::scan::records_of;
use crate::{Cursor, Divergence, LONGEST_LINE};

/// How much of what lies before a position is digested.
const BEFORE: u64 = 4 << 10;
/// How much of a long last line's beginning is: its ids stand there.
const HEAD: u64 = 512;
/// How much of the first line tells one journal from another.
const FIRST: u64 = 4 << 10;

/// The cursor of a position, or why there is none.
///
/// What is digested is the end of what lies before the position, and the beginning of the last line where that is
/// further away. It is enough: every record begins with a random uuid and the uuid of the one before it, so a journal
/// that went another way, however shortly before the position, has other bytes there. Damage further up, by a
/// foreign hand, is not a cursor's to find: all that follows is still what would have been handed out.
pub(crate) fn cursor_at<R: Read + Seek>(
    mut source: R,
    id: ConversationId,
    position: u64,
) -> io::Result<Result<Cursor, Divergence>> {
    if position == 0 {
        return Ok(Ok(Cursor::BEGINNING));
    }
    let length = source.seek(SeekFrom::End(0))?;
    if position > length {
        return Ok(Err(Divergence::Shorter { position, length }));
    }
    let from = position.saturating_sub(BEFORE);
    let before = read(&mut source, from, position)?;
    let ended = before.last() == Some(&b'\n');
    let line = line_begin(&mut source, &before[..before.len() - usize::from(ended)], from)?;
    // Where a foreign hand glued records together, or forgot a newline, there are places inside of a line.
    if !ended && !is_whole(&mut source, line, position)? {
        return Ok(Err(Divergence::InsideARecord { position }));
    }
    let mut digest = Sha256::new();
    if let Some(line) = line.filter(|line| *line < from) {
        digest.update(read(&mut source, line, from.min(line + HEAD))?);
    }
    digest.update(&before);

    let mut first = if from == 0 { before } else { read(&mut source, 0, FIRST.min(position))? };
    first.truncate(memchr::memchr(b'\n', &first).unwrap_or(first.len()).min(FIRST as usize));
    let identity = Sha256::new().chain_update(id.uuid().as_bytes()).chain_update(first);
    Ok(Ok(Cursor::new(position, first_bytes(identity), first_bytes(digest))))
}

/// The place a cursor stands for, or why it stands for none.
pub(crate) fn place_of<R: Read + Seek>(
    source: R,
    id: ConversationId,
    cursor: &Cursor,
) -> io::Result<Result<u64, Divergence>> {
    let found = cursor_at(source, id, cursor.position())?;
    Ok(found.and_then(|found| match found {
        found if found.identity() != cursor.identity() => Err(Divergence::AnotherJournal),
        found if found != *cursor => Err(Divergence::OtherRecords { position: cursor.position() }),
        found => Ok(found.position()),
    }))
}

fn first_bytes<const N: usize>(digest: Sha256) -> [u8; N] {
    digest.finalize().first_chunk().copied().unwrap_or([0; N])
}

fn read<R: Read + Seek>(source: &mut R, from: u64, to: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; (to - from) as usize];
    source.seek(SeekFrom::Start(from))?;
    source.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Where the line begins that `bytes`, which stand at `at`, are the end of; `None` if that is further away than any
/// record goes.
fn line_begin<R: Read + Seek>(source: &mut R, bytes: &[u8], at: u64) -> io::Result<Option<u64>> {
    if let Some(newline) = memchr::memrchr(b'\n', bytes) {
        return Ok(Some(at + newline as u64 + 1));
    }
    let floor = at.saturating_sub(LONGEST_LINE as u64);
    let mut end = at;
    while end > floor {
        let begin = end.saturating_sub(64 << 10).max(floor);
        if let Some(newline) = memchr::memrchr(b'\n', &read(source, begin, end)?) {
            return Ok(Some(begin + newline as u64 + 1));
        }
        end = begin;
    }
    Ok((floor == 0).then_some(0))
}

/// Where the last line ends that has an end; 0 if there is none that is near.
pub(crate) fn last_line_end<R: Read + Seek>(mut source: R) -> io::Result<u64> {
    let length = source.seek(SeekFrom::End(0))?;
    Ok(line_begin(&mut source, &[], length)?.unwrap_or_default())
}

/// Whether whole records stand between the beginning of a line and a place in it, and nothing else.
fn is_whole<R: Read + Seek>(source: &mut R, line: Option<u64>, position: u64) -> io::Result<bool> {
    let Some(line) = line.filter(|line| position - line <= LONGEST_LINE as u64) else { return Ok(false) };
    let mut any = false;
    let rest = records_of(&read(source, line, position)?, &mut |_, _, _| any = true);
    Ok(any && rest.is_none())
}
