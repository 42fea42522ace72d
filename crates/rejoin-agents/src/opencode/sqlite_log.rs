//! The write-ahead log of somebody else's SQLite database: what of it counts, and whether it moved while it was
//! read.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use rejoin_files::open_regular_file;

use super::sqlite::broken;

const HEAD: u64 = 32;
const HEAD_OF_FRAME: usize = 24;
/// SQLite begins the log anew after a thousand pages, unless it is kept from that; nobody lets it grow so long.
const LONGEST: u64 = 512 << 20;

/// A log as it was when it was read.
pub(super) struct Log {
    path: PathBuf,
    file: Option<File>,
    /// Where the newest committed version of a page lies.
    pages: HashMap<u32, u64>,
    /// Its head as it was read.
    head: Vec<u8>,
    /// What stood behind the frames that count, and where: the heads of those that no commit followed yet, and
    /// the whole of the first that does not add up. Nothing can be committed without changing one of them.
    /// They are the bytes that were judged, not read again: what was written in between would be missed.
    behind: Vec<Judged>,
}

/// Bytes of a log as they were judged.
struct Judged {
    place: u64,
    bytes: Vec<u8>,
    /// The log ended with them.
    last: bool,
}

impl Log {
    /// Reads the log of a database; there need not be one. What counts is what SQLite itself would take: frames
    /// with the salts of the head whose checksums follow from each other, up to the last that ends a
    /// transaction.
    pub(super) fn read(database: &Path, page_size: usize) -> io::Result<Self> {
        let mut path = database.as_os_str().to_owned();
        path.push("-wal");
        let path = PathBuf::from(path);
        let mut log = Self { path, file: None, pages: HashMap::new(), head: Vec::new(), behind: Vec::new() };
        let Some(file) = open(&log.path)? else { return Ok(log) };
        log.head = at(&file, 0, HEAD as usize)?;
        // An empty log, or one that was lost with the power: everything is in the database.
        if log.head.len() < HEAD as usize || log.head.iter().all(|byte| *byte == 0) {
            return Ok(log);
        }
        let big_endian = match word(&log.head, 0) {
            0x377f_0682 => false,
            0x377f_0683 => true,
            _ => return Err(broken("not a log of this database")),
        };
        let mut sum = Sum { big_endian, words: (0, 0) };
        sum.add(&log.head[..24]);
        if sum.words == (word(&log.head, 24), word(&log.head, 28)) {
            if word(&log.head, 8) as usize != page_size {
                return Err(broken("not a log of this database"));
            }
            log.read_frames(&file, page_size, sum)?;
        }
        log.file = Some(file);
        Ok(log)
    }

    fn read_frames(&mut self, file: &File, page_size: usize, mut sum: Sum) -> io::Result<()> {
        let mut frames = BufReader::with_capacity(64 << 10, file);
        frames.seek(SeekFrom::Start(HEAD))?;
        let mut frame = vec![0; HEAD_OF_FRAME + page_size];
        let (mut at, mut waiting) = (HEAD, Vec::new());
        loop {
            let length = read_up_to(&mut frames, &mut frame)?;
            // Frames of an earlier round carry other salts; a torn or zeroed one does not add up.
            let (head, page) = frame.split_at(HEAD_OF_FRAME);
            sum.add(&head[..8]);
            sum.add(page);
            let fits = head[8..16] == self.head[16..24] && sum.words == (word(head, 16), word(head, 20));
            if length < frame.len() || !fits {
                let (bytes, last) = (frame[..length].to_vec(), length < frame.len());
                self.behind.push(Judged { place: at, bytes, last });
                return Ok(());
            }
            waiting.push((word(head, 0), at + HEAD_OF_FRAME as u64));
            self.behind.push(Judged { place: at, bytes: head.to_vec(), last: false });
            at += frame.len() as u64;
            if at > LONGEST {
                return Err(broken("too long a log"));
            }
            if word(head, 4) != 0 {
                self.pages.extend(waiting.drain(..));
                self.behind.clear();
            }
        }
    }

    /// Reads a page, if the log has it.
    pub(super) fn page(&mut self, number: u32, page: &mut [u8]) -> io::Result<bool> {
        let (Some(file), Some(at)) = (&mut self.file, self.pages.get(&number)) else { return Ok(false) };
        file.seek(SeekFrom::Start(*at))?;
        file.read_exact(page)?;
        Ok(true)
    }

    /// Whether something was committed since it was read: what was read of the database may then be of another
    /// time than what was read of the log. A log that begins anew has another head.
    pub(super) fn has_moved(&self) -> io::Result<bool> {
        let Some(file) = open(&self.path)? else { return Ok(!self.head.is_empty()) };
        if at(&file, 0, HEAD as usize)? != self.head {
            return Ok(true);
        }
        for judged in &self.behind {
            if !judged.is_still_there(&file)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Judged {
    fn is_still_there(&self, file: &File) -> io::Result<bool> {
        let now = at(file, self.place, self.bytes.len() + usize::from(self.last))?;
        Ok(now == self.bytes)
    }
}

/// Fills a buffer as far as there is something to read.
fn read_up_to(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match reader.read(&mut buffer[length..]) {
            Ok(0) => break,
            Ok(count) => length += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}

fn open(path: &Path) -> io::Result<Option<File>> {
    match open_regular_file(path) {
        Ok((file, _)) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// What stands somewhere in a file, as far as there is something.
fn at(mut file: &File, at: u64, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(length);
    file.seek(SeekFrom::Start(at))?;
    file.take(length as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn word(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).map_or(0, |word| u32::from_be_bytes([word[0], word[1], word[2], word[3]]))
}

/// The checksum of a log, which goes on from its head through all of its frames.
struct Sum {
    big_endian: bool,
    words: (u32, u32),
}

impl Sum {
    fn add(&mut self, bytes: &[u8]) {
        let (mut one, mut two) = self.words;
        let read = |word: &[u8]| {
            let word = [word[0], word[1], word[2], word[3]];
            if self.big_endian { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) }
        };
        for pair in bytes.chunks_exact(8) {
            one = one.wrapping_add(read(&pair[..4])).wrapping_add(two);
            two = two.wrapping_add(read(&pair[4..])).wrapping_add(one);
        }
        self.words = (one, two);
    }
}
