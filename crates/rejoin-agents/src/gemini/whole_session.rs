//! A session of Gemini (0.19.1 to 0.61.0), read whole. One that an older version began lies in two files, of which
//! the newer one repeats the older one's messages without most of what was known of them.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::replay::Replay;
use super::sessions::{LONGEST_LINE, read_value};
use super::store::files_of;
use crate::loose::Text;
use crate::stored_sessions::{FileEnds, LARGEST_SESSION, StoredSession, WholeSession, each_record};
use crate::surrogates::mended;

/// Nobody has more files of one session.
const MOST_FILES: usize = 100;

/// Reads the session that was found in a file.
pub(super) fn read(session: &StoredSession) -> io::Result<WholeSession> {
    let file = &session.file;
    let mut replay = Replay::default();
    let mut room = LARGEST_SESSION;
    for other in others(session) {
        // What they tell is only more of the same.
        let size = std::fs::metadata(&other).map_or(u64::MAX, |meta| meta.len());
        if size <= room && named_in(&other).as_deref() == Some(&session.id) {
            room -= size;
            replay.begin_file();
            let _ = read_file(&other, &mut replay);
        }
    }
    replay.begin_file();
    replay.session.clear();
    read_file(file, &mut replay)?;
    if replay.session.is_empty() {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "no record in it was understood"));
    }
    let forked_from = replay.imported_from.take().map(|path| origin(&path, file));
    let mut whole = WholeSession {
        id: std::mem::take(&mut replay.session),
        title: replay.title.take(),
        forked_from,
        is_subagent: replay.is_subagent,
        not_understood: std::mem::take(&mut replay.unknown).into_list(),
        ..WholeSession::default()
    };
    (whole.turns, whole.head) = replay.into_turns();
    Ok(whole)
}

/// The other files of a session, the oldest first.
fn others(session: &StoredSession) -> Vec<PathBuf> {
    let chats = session.file.parent().unwrap_or(Path::new(""));
    let mut files = files_of(chats, &session.id).unwrap_or_default();
    files.retain(|file| *file != session.file);
    files.sort();
    files.truncate(MOST_FILES);
    files
}

fn is_one_value(file: &Path) -> bool {
    file.extension() == Some(OsStr::new("json"))
}

fn read_file(file: &Path, replay: &mut Replay) -> io::Result<()> {
    if is_one_value(file) {
        replay.take_line(&read_value(file, of_one_value)?);
    } else {
        let without = each_record(file, LONGEST_LINE, |line, _| replay.take_line(line))?;
        replay.unknown.saw(without, "lines without a record");
    }
    Ok(())
}

/// The beginning of a file.
#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
struct Header<'a> {
    #[serde(rename = "sessionId")]
    session: Text<'a>,
}

/// A file that is one value, if it holds a session.
fn of_one_value(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let is_session = |bytes: &[u8]| {
        serde_json::from_slice::<Header<'_>>(bytes).is_ok_and(|header| header.session.filled().is_some())
    };
    if is_session(bytes) {
        return Ok(bytes.to_vec());
    }
    let mended = std::str::from_utf8(bytes).ok().and_then(mended).map(String::into_bytes);
    let mended = mended.filter(|bytes| is_session(bytes));
    mended.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "no record in it was understood"))
}

/// The session whose file this is.
fn named_in(file: &Path) -> Option<String> {
    if is_one_value(file) {
        let bytes = read_value(file, of_one_value).ok()?;
        return serde_json::from_slice::<Header<'_>>(&bytes).ok()?.session.into_filled();
    }
    let ends = FileEnds::read(file).ok()?;
    let (line, _) = ends.head().next()?;
    serde_json::from_slice::<Header<'_>>(line).ok()?.session.into_filled()
}

/// The session in an imported file, if that is still there; or else the file.
fn origin(path: &str, copy: &Path) -> String {
    let name = Path::new(path).file_name().unwrap_or_default();
    named_in(&copy.with_file_name(name)).unwrap_or_else(|| path.to_owned())
}
