//! All records of a file of lines, one after another.

use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use rejoin_files::open_regular_file;

use super::json_lines::behind_a_torn_one;
use super::{LARGEST_SESSION, too_large};
use crate::surrogates::mended;

/// Hands on each record of a file, and whether it stands in one line behind a torn one. `take` says whether what
/// it got is a record. Lines longer than `longest` are passed over. Returns in how many lines there was no record.
pub(crate) fn each_record(
    path: &Path,
    longest: u64,
    mut take: impl FnMut(&[u8], bool) -> bool,
) -> io::Result<usize> {
    let (file, metadata) = open_regular_file(path)?;
    if metadata.len() > LARGEST_SESSION {
        return Err(too_large());
    }
    let mut file = BufReader::with_capacity(256 << 10, file.take(LARGEST_SESSION));
    let (mut line, mut without) = (Vec::new(), 0);
    loop {
        line.clear();
        if file.by_ref().take(longest).read_until(b'\n', &mut line)? == 0 {
            return Ok(without);
        }
        let has_ended = line.last() == Some(&b'\n');
        if !has_ended && line.len() as u64 == longest {
            file.skip_until(b'\n')?;
            without += 1;
        } else if !line.trim_ascii().is_empty() && !take_line(&line, has_ended, &mut take) {
            // What is not yet written to its end will be understood.
            without += usize::from(has_ended);
        }
    }
}

fn take_line(line: &[u8], has_ended: bool, take: &mut impl FnMut(&[u8], bool) -> bool) -> bool {
    if take(line, false) {
        return true;
    }
    let mended = std::str::from_utf8(line).ok().and_then(mended).map(String::into_bytes);
    let line = mended.as_deref().unwrap_or(line);
    if mended.is_some() && take(line, false) {
        return true;
    }
    // The end of a line that is being written may look like a record.
    has_ended && behind_a_torn_one(line).any(|rest| take(rest, true))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(bytes: &[u8]) -> (Vec<(String, bool)>, usize) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        std::fs::write(&path, bytes).unwrap();
        let mut records = Vec::new();
        let without = each_record(&path, 1000, |line, is_glued| {
            let value: Result<serde_json::Value, _> = serde_json::from_slice(line);
            let said = value.ok().and_then(|value| Some(value.get("said")?.as_str()?.to_owned()));
            records.extend(said.clone().map(|said| (said, is_glued)));
            said.is_some()
        });
        (records, without.unwrap())
    }

    #[test]
    fn records_behind_torn_ones_and_with_half_characters_are_handed_on() {
        let told = |said: &[(&str, bool)]| {
            said.iter().map(|(said, is_glued)| ((*said).to_owned(), *is_glued)).collect::<Vec<_>>()
        };
        let (found, without) =
            records(b"{\"said\":\"a\"}\n\n{\"said\":{\"b{\"said\":\"c\"}\nodd\n{\"said\":\"\\ud83d\"}\n");
        assert_eq!((found, without), (told(&[("a", false), ("c", true), ("\u{fffd}", false)]), 1));
        // The last line is being written.
        assert_eq!(records(b"{\"said\":\"a\"}\n{\"list\":[{\"said\":\"b\"}"), (told(&[("a", false)]), 0));
        assert_eq!(records(b"{\"said\":\"a\"}"), (told(&[("a", false)]), 0));
    }

    #[test]
    fn what_is_behind_a_line_that_is_too_long_is_read_and_not_the_rest_of_it() {
        let long = format!("{{\"x\":\"{}{{\"said\":\"no\"}}\n{{\"said\":\"yes\"}}\n", "y".repeat(990));
        assert_eq!(records(long.as_bytes()), (vec![("yes".to_owned(), false)], 1));
    }

    #[test]
    fn a_file_that_is_too_large_is_refused_before_it_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        std::fs::File::create(&path).unwrap().set_len(LARGEST_SESSION + 1).unwrap();
        let error = each_record(&path, 1000, |_, _| panic!("it was read")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        assert!(error.to_string().contains("512 MiB"), "{error}");
    }
}
