//! Sessions kept as one file of JSON lines each: the way through such a file is the same for all agents, what a record
//! means is each one's own.

use std::io::{self, BufRead, BufReader, Read};
use std::iter;
use std::path::Path;

use memchr::memmem;
use rejoin_files::open_regular_file;
use serde::Deserialize;

use super::{Draft, FileEnds, LARGEST_SESSION, StoredSession, too_large};
use crate::driver::mended;

/// Lines that are longer are passed over.
const LONGEST_LINE: u64 = 8 << 20;
/// So many places in a line are tried at which a record may begin.
const MOST_TRIES: usize = 64;

/// What the records of an agent's sessions mean. It keeps what it needs to remember from one to the next.
pub(crate) trait SessionRecords {
    /// One record.
    type Record<'a>: Deserialize<'a>;

    /// Takes in a record, and says whether it is one of this agent's.
    fn take_in(&mut self, record: Self::Record<'_>, draft: &mut Draft) -> bool;
}

/// What the ends of a file tell of the session in it. `new` begins to read it.
pub(crate) fn read_session<R: SessionRecords>(
    path: &Path,
    new: impl Fn() -> (R, Draft),
) -> io::Result<Option<StoredSession>> {
    let mut ends = FileEnds::read(path)?;
    let (mut records, mut draft) = new();
    let mut understood = feed(ends.head(), &mut records, &mut draft);
    if !draft.has_prompt() && ends.lengthen_head()? {
        (records, draft) = new();
        understood = feed(ends.head(), &mut records, &mut draft);
    }
    draft.is_past_beginning = !ends.is_whole();
    understood += feed(ends.tail(), &mut records, &mut draft);
    if understood == 0 {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "no record in it was understood"));
    }
    Ok(draft.finish(path, ends.size, ends.is_whole()))
}

/// How many messages there are in a file, which is read to its end as long as `go_on` says so.
pub(crate) fn count_messages<R: SessionRecords>(
    path: &Path,
    (mut records, mut draft): (R, Draft),
    go_on: &dyn Fn() -> bool,
) -> Option<u64> {
    let mut drafting = Drafting { records: &mut records, draft: &mut draft };
    let is_whole = each_line(path, u64::MAX, &mut |line, _| {
        if let Some(line) = line {
            take_in(line, &mut drafting);
        }
        go_on()
    });
    is_whole.ok()?.then_some(draft.messages)
}

/// What the records of an agent's sessions mean to whoever reads all of them.
pub(crate) trait Records {
    /// One record.
    type Record<'a>: Deserialize<'a>;

    /// Takes in a record, and says whether it is one of this agent's.
    fn take_in(&mut self, record: Self::Record<'_>) -> bool;
}

/// Reads every record of a session's file, and says how many lines were none.
pub(crate) fn read_records(path: &Path, records: &mut impl Records) -> io::Result<usize> {
    let size = open_regular_file(path)?.1.len();
    if size > LARGEST_SESSION {
        return Err(too_large());
    }
    let (mut understood, mut not_understood) = (0_usize, 0_usize);
    // What is appended meanwhile is read the next time.
    each_line(path, size, &mut |line, _| {
        if line.is_some_and(|line| line.trim_ascii().is_empty()) {
            return true;
        }
        let is_one = line.is_some_and(|line| take_in(line, records));
        *(if is_one { &mut understood } else { &mut not_understood }) += 1;
        true
    })?;
    if understood == 0 {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "no record in it was understood"));
    }
    Ok(not_understood)
}

/// Hands on the lines of a file up to a place as long as `take` says so, each with the place where it ends; `None` for
/// one that is too long. Says whether that was to the end.
pub(crate) fn each_line(
    path: &Path,
    until: u64,
    take: &mut dyn FnMut(Option<&[u8]>, u64) -> bool,
) -> io::Result<bool> {
    let (file, _) = open_regular_file(path)?;
    let mut file = BufReader::with_capacity(256 << 10, file.take(until));
    let (mut line, mut end) = (Vec::new(), 0);
    loop {
        line.clear();
        let read = file.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)? as u64;
        if read == 0 {
            return Ok(true);
        }
        end += read;
        let is_too_long = read == LONGEST_LINE && !line.ends_with(b"\n");
        if is_too_long {
            end += file.skip_until(b'\n')? as u64;
        }
        if !take((!is_too_long).then_some(&line), end) {
            return Ok(false);
        }
    }
}

/// Records that become a draft.
struct Drafting<'a, R> {
    records: &'a mut R,
    draft: &'a mut Draft,
}

impl<R: SessionRecords> Records for Drafting<'_, R> {
    type Record<'a> = R::Record<'a>;

    fn take_in(&mut self, record: Self::Record<'_>) -> bool {
        self.records.take_in(record, self.draft)
    }
}

fn feed<'a, R: SessionRecords>(
    lines: impl Iterator<Item = (&'a [u8], u64)>,
    records: &mut R,
    draft: &mut Draft,
) -> usize {
    let mut understood = 0;
    for (line, end) in lines {
        draft.at = end;
        understood += usize::from(take_in(line, &mut Drafting { records, draft }));
    }
    understood
}

/// Takes in the record of a line. After a crash most agents append the next one to the one that was cut.
fn take_in<R: Records>(line: &[u8], records: &mut R) -> bool {
    if let Ok(record) = serde_json::from_slice::<R::Record<'_>>(line) {
        return records.take_in(record);
    }
    if let Some(mended) = str::from_utf8(line).ok().and_then(mended)
        && let Ok(record) = serde_json::from_str::<R::Record<'_>>(&mended)
    {
        return records.take_in(record);
    }
    for rest in behind_a_torn_one(line) {
        if let Ok(record) = serde_json::from_slice::<R::Record<'_>>(rest) {
            return records.take_in(record);
        }
    }
    false
}

/// The record of a line, or that behind one that was cut.
pub(crate) fn record_in<'a, T: Deserialize<'a>>(line: &'a [u8]) -> Option<T> {
    iter::once(line).chain(behind_a_torn_one(line)).find_map(|line| serde_json::from_slice(line).ok())
}

/// What may be a record in a line that is none: the ends of it that begin like one.
pub(super) fn behind_a_torn_one(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let begins = memmem::find_iter(line, b"{\"").filter(|at| *at > 0).take(MOST_TRIES);
    begins.map(|at| &line[at..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loose::Text;

    struct Said;

    #[derive(Deserialize, Default)]
    #[serde(bound(deserialize = "'de: 'a"), default)]
    struct Line<'a> {
        said: Text<'a>,
    }

    impl SessionRecords for Said {
        type Record<'a> = Line<'a>;

        fn take_in(&mut self, record: Line<'_>, draft: &mut Draft) -> bool {
            draft.typed(record.said.as_str());
            record.said.filled().is_some()
        }
    }

    fn new() -> (Said, Draft) {
        (Said, Draft::of("x".into()))
    }

    fn session(bytes: &[u8]) -> io::Result<Option<StoredSession>> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        std::fs::write(&path, bytes).unwrap();
        read_session(&path, new)
    }

    #[test]
    fn a_record_behind_a_torn_one_is_found() {
        let torn = session(b"{\"said\":\"one\"}\n{\"said\":{\"tw{\"said\":\"three\"}\n{\"said\":\"fo")
            .unwrap()
            .unwrap();
        assert_eq!((torn.first_prompt.as_deref(), torn.messages), (Some("one"), Some(2)));
    }

    #[test]
    fn a_first_prompt_behind_a_long_line_is_found_and_what_is_behind_a_longer_one_is_not_guessed() {
        let behind = |long: usize| {
            let text = format!(
                "{{\"x\":\"{}\"}}\n{{\"said\":\"first\"}}\n{}{{\"said\":\"last\"}}\n",
                "y".repeat(long),
                "{}\n".repeat(50_000)
            );
            session(text.as_bytes()).unwrap().unwrap()
        };
        assert_eq!(behind(500 << 10).first_prompt.as_deref(), Some("first"));
        let longer = behind(2 << 20);
        assert_eq!((longer.first_prompt.as_deref(), longer.messages), (None, None));
    }

    #[test]
    fn zeros_foreign_text_and_nothing_are_not_understood() {
        for bytes in [&[0; 5000][..], b"", b"hello\n", b"{\"foreign\":1}\n", b"\xff\xfe\n", b"[[[[[[["] {
            assert!(session(bytes).is_err(), "{bytes:?}");
        }
        let nested = "{\"a\":".repeat(20_000);
        assert!(session(nested.as_bytes()).is_err());
    }

    #[test]
    fn messages_of_a_long_file_are_counted_as_long_as_there_is_time() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        std::fs::write(&path, "{\"said\":\"again\"}\n".repeat(20_000)).unwrap();
        assert_eq!(read_session(&path, new).unwrap().unwrap().messages, None);
        assert_eq!(count_messages(&path, new(), &|| true), Some(20_000));
        assert_eq!(count_messages(&path, new(), &|| false), None);
    }

    #[derive(Default)]
    struct Texts(Vec<String>);

    impl Records for Texts {
        type Record<'a> = Line<'a>;

        fn take_in(&mut self, record: Line<'_>) -> bool {
            self.0.push(record.said.as_str().to_owned());
            record.said.filled().is_some()
        }
    }

    #[test]
    fn a_line_that_is_too_long_costs_itself_and_halves_of_letters_cost_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let long = format!("{{\"said\":\"{}\"}}", "x".repeat(9 << 20));
        let text = format!("{{\"said\":\"one\"}}\n\n{long}\n{{\"said\":\"tw\\ud83d\"}}\n{{\"said\":\"thr");
        std::fs::write(&path, text).unwrap();
        let mut said = Texts::default();
        assert_eq!(read_records(&path, &mut said).unwrap(), 2);
        assert_eq!(said.0, ["one", "tw\u{fffd}"]);
        std::fs::File::create(&path).unwrap().set_len(LARGEST_SESSION + 1).unwrap();
        assert_eq!(read_records(&path, &mut said).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }
}
