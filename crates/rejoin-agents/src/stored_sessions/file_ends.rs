//! The head and the tail of a file of lines: what a list tells of a session stands there, however long it is.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use rejoin_files::open_regular_file;

/// The first prompt lay within the first 50 KB of all stores that were looked at; Codex's first line alone is 22 KB.
const HEAD: u64 = 64 << 10;
/// Names and the like are written again at the end.
const TAIL: u64 = 64 << 10;
/// So far the first prompt is looked for where long instructions or pasted images come before it.
const FARTHEST: u64 = 1 << 20;

/// The whole lines at both ends of a file.
pub(crate) struct FileEnds {
    file: File,
    /// How large the file is.
    pub(crate) size: u64,
    head: Vec<u8>,
    tail: Vec<u8>,
}

impl FileEnds {
    /// Reads them. A file that is no file, or an empty one, is an error.
    pub(crate) fn read(path: &Path) -> io::Result<Self> {
        let (mut file, metadata) = open_regular_file(path)?;
        let size = metadata.len();
        if size == 0 {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it is empty"));
        }
        let mut ends = Self { head: Vec::new(), tail: Vec::new(), file: file.try_clone()?, size };
        if size <= HEAD + TAIL {
            ends.head = part(&mut file, 0, HEAD + TAIL)?;
            return Ok(ends);
        }
        ends.head = part(&mut file, 0, HEAD)?;
        ends.tail = part(&mut file, size - TAIL, TAIL)?;
        // A line that is cut is not one.
        keep_whole_lines(&mut ends.head);
        let first = memchr::memchr(b'\n', &ends.tail).map_or(ends.tail.len(), |end| end + 1);
        ends.tail.drain(..first);
        Ok(ends)
    }

    /// Whether these are all of its lines.
    pub(crate) fn is_whole(&self) -> bool {
        self.size <= HEAD + TAIL
    }

    /// The lines of the head, each with the place where it ends.
    pub(crate) fn head(&self) -> impl Iterator<Item = (&[u8], u64)> {
        lines(&self.head)
    }

    /// The lines of the tail.
    pub(crate) fn tail(&self) -> impl Iterator<Item = (&[u8], u64)> {
        lines(&self.tail)
    }

    /// Takes a longer head, if there is more: once.
    pub(crate) fn lengthen_head(&mut self) -> io::Result<bool> {
        if self.is_whole() {
            return Ok(false);
        }
        self.head = part(&mut self.file, 0, FARTHEST.min(self.size - TAIL))?;
        keep_whole_lines(&mut self.head);
        Ok(true)
    }
}

fn part(file: &mut File, from: u64, most: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.by_ref().take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn keep_whole_lines(bytes: &mut Vec<u8>) {
    bytes.truncate(memchr::memrchr(b'\n', bytes).map_or(0, |last| last + 1));
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = (&[u8], u64)> {
    let mut end = 0;
    bytes.split_inclusive(|byte| *byte == b'\n').map(move |line| {
        end += line.len() as u64;
        (line, end)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_file_whole_lines_at_both_ends_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("long");
        let line = |number: usize| format!("{number:099}\n");
        std::fs::write(&path, (0..10_000).map(line).collect::<String>()).unwrap();
        let mut ends = FileEnds::read(&path).unwrap();
        assert!(!ends.is_whole());
        let number =
            |(line, _): (&[u8], u64)| std::str::from_utf8(line).unwrap().trim().parse::<usize>().unwrap();
        assert_eq!(ends.head().map(number).collect::<Vec<_>>(), (0..655).collect::<Vec<_>>());
        assert_eq!(ends.tail().map(number).collect::<Vec<_>>(), (9_345..10_000).collect::<Vec<_>>());
        assert_eq!(ends.head().last().unwrap().1, 65_500);
        assert!(ends.lengthen_head().unwrap());
        assert_eq!(ends.head().count(), 9_344);
    }

    #[test]
    fn a_line_without_an_end_in_a_short_file_is_a_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("short");
        std::fs::write(&path, "one\ntwo").unwrap();
        let ends = FileEnds::read(&path).unwrap();
        assert_eq!(ends.head().collect::<Vec<_>>(), [(b"one\n".as_slice(), 4), (b"two".as_slice(), 7)]);
        assert_eq!(ends.tail().count(), 0);
        assert!(ends.is_whole());
        std::fs::write(&path, "").unwrap();
        assert!(FileEnds::read(&path).is_err());
    }
}
