//! The files a session lies in. A fork and a rewind (0.166) go on in a file of their own, which names the place in
//! another one up to which that comes before it.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use rejoin_files::open_regular_file;

use super::sessions::id_in;
use super::stored_records::StoredRecord;
use crate::stored_sessions::{LARGEST_SESSION, StoredSession, each_line, record_in, too_large};

/// Nobody forks forks so often.
const DEEPEST: usize = 100;

/// A file, or the beginning of one, of which a session is made.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) path: PathBuf,
    /// So much of it is read.
    pub(super) until: u64,
    /// The segment before it, by its place in the list, and how much of that comes before.
    pub(super) base: Option<(usize, u64)>,
    /// It names one that is not there.
    pub(super) base_is_missing: bool,
    /// The agent goes on in this one.
    pub(super) is_current: bool,
    /// Tells it apart from the others.
    pub(super) id: String,
}

/// Where a segment goes on, as its first record says.
struct Base {
    thread: String,
    bytes: u64,
    ordinal: f64,
}

/// The segments of a session, each behind the one before it.
pub(super) fn of_session(session: &StoredSession, files: Vec<PathBuf>) -> io::Result<Vec<Segment>> {
    let mut threads: HashMap<String, Vec<PathBuf>> = HashMap::new();
    let is_listed = files.contains(&session.file);
    for file in files.into_iter().chain((!is_listed).then(|| session.file.clone())) {
        let id = file.file_name().and_then(OsStr::to_str).and_then(id_in).map(str::to_owned);
        if file == session.file {
            threads.entry(session.id.clone()).or_default().push(file);
        } else if let Some(id) = id {
            threads.entry(id).or_default().push(file);
        }
    }
    for files in threads.values_mut() {
        files.sort_by_key(|file| segment_id(file));
    }
    let own = threads.get(&session.id).cloned().unwrap_or_default();
    let holds_something = |file: &&PathBuf| file.metadata().is_ok_and(|meta| meta.len() > 0);
    let current = own.iter().rev().find(holds_something).unwrap_or(&session.file).clone();
    if is_compressed(&current) {
        return Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "the session was compressed by Codex; resume it there once, then it can be read",
        ));
    }
    let mut places = Places { threads: &threads, segments: Vec::new(), placed: HashMap::new() };
    for file in own.iter().filter(|file| !is_compressed(file)) {
        // What cannot be read matters only where the agent goes on.
        match places.place(file, u64::MAX, 0) {
            Err(error) if *file == current => return Err(error),
            _ => {}
        }
    }
    let mut segments = places.segments;
    if segments.iter().map(|segment| segment.until).sum::<u64>() > LARGEST_SESSION {
        return Err(too_large());
    }
    for segment in &mut segments {
        segment.is_current = segment.path == current;
    }
    Ok(segments)
}

/// The id at the end of a file's name; those of later segments are greater.
fn segment_id(file: &Path) -> (bool, String) {
    let name = file.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let name = name.strip_suffix(".zst").unwrap_or(name);
    let name = name.strip_suffix(".jsonl").unwrap_or(name);
    let id = name.get(name.len().saturating_sub(36)..).unwrap_or(name);
    (name.contains('_'), id.to_owned())
}

fn is_compressed(file: &Path) -> bool {
    file.extension() == Some(OsStr::new("zst"))
}

struct Places<'a> {
    threads: &'a HashMap<String, Vec<PathBuf>>,
    segments: Vec<Segment>,
    /// Nothing for those whose bases are looked for.
    placed: HashMap<PathBuf, Option<usize>>,
}

impl Places<'_> {
    /// Puts a file behind those before it, and says where it stands; nothing, if that leads in a circle.
    fn place(&mut self, path: &Path, until: u64, depth: usize) -> io::Result<Option<usize>> {
        if let Some(placed) = self.placed.get(path).copied() {
            if let Some(segment) = placed.and_then(|at| self.segments.get_mut(at)) {
                segment.until = segment.until.max(until.min(path.metadata()?.len()));
            }
            return Ok(placed);
        }
        let (_, meta) = open_regular_file(path)?;
        let until = until.min(meta.len());
        self.placed.insert(path.to_owned(), None);
        let base = first_base(path)?;
        let mut before = None;
        if let Some((base, file)) = base.as_ref().filter(|_| depth < DEEPEST).and_then(|base| {
            let file = self.file_of(base, path)?;
            Some((base, file))
        }) {
            before = self.place(&file, base.bytes, depth + 1)?.map(|at| (at, base.bytes));
        }
        let at = self.segments.len();
        self.segments.push(Segment {
            path: path.to_owned(),
            until,
            base_is_missing: base.is_some() && before.is_none(),
            base: before,
            is_current: false,
            id: segment_id(path).1,
        });
        self.placed.insert(path.to_owned(), Some(at));
        Ok(Some(at))
    }

    /// The file a segment goes on from: of those with the id, one that has a record ending there.
    fn file_of(&self, base: &Base, own: &Path) -> Option<PathBuf> {
        let files = self.threads.get(&base.thread)?.iter().rev();
        let mut fitting = files.filter(|file| *file != own && !is_compressed(file));
        fitting.find(|file| ends_a_record(file, base).unwrap_or(false)).cloned()
    }
}

fn first_base(path: &Path) -> io::Result<Option<Base>> {
    let mut base = None;
    each_line(path, u64::MAX, &mut |line, _| {
        let record: Option<StoredRecord<'_>> = line.and_then(record_in);
        let meta = record.filter(|record| record.kind.as_str() == "session_meta");
        let told = meta.and_then(|meta| meta.payload.0?.history_base.0);
        base = told.and_then(|told| {
            Some(Base {
                bytes: told.end_byte_offset.count(),
                ordinal: told.end_ordinal_exclusive.0.unwrap_or(-1.0),
                thread: told.thread_id.into_filled()?,
            })
        });
        false
    })?;
    Ok(base)
}

/// Whether a record ends where a base does, and it is the one with the right number.
fn ends_a_record(path: &Path, base: &Base) -> io::Result<bool> {
    const FARTHEST: u64 = 1 << 20;
    let (mut file, meta) = open_regular_file(path)?;
    if base.bytes == 0 || meta.len() < base.bytes {
        return Ok(false);
    }
    let length = base.bytes.min(FARTHEST);
    file.seek(SeekFrom::Start(base.bytes - length))?;
    let mut end = Vec::new();
    file.take(length).read_to_end(&mut end)?;
    let Some((b'\n', lines)) = end.split_last() else { return Ok(false) };
    let last = memchr::memrchr(b'\n', lines).map_or(lines, |before| &lines[before + 1..]);
    let number = record_in::<StoredRecord<'_>>(last).and_then(|record| record.ordinal.0);
    #[expect(clippy::float_cmp, reason = "they are whole numbers")]
    Ok(number.is_none_or(|number| base.ordinal < 0.0 || number + 1.0 == base.ordinal))
}
