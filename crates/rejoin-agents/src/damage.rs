//! Whether a stored session still is what the agent wrote. After a loss of power a file may have its
//! size and its time and zeros for what was in it, or end in the middle of a line. Agents pass over
//! what they cannot read: they would go on with holes in their memory, and not say so.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use memchr::{memchr, memmem, memrchr};
use serde::de::IgnoredAny;

/// What is wrong with a stored session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Damage {
    /// There are zeros where its words should be.
    Zeroed,
    /// Its last record was not written to the end.
    Torn,
    /// What leads from its last record to its first is interrupted.
    Broken,
}

impl Damage {
    /// In a few words, about the session.
    pub const fn words(self) -> &'static str {
        match self {
            Damage::Zeroed => "it holds zeros where words should be",
            Damage::Torn => "its last record is cut",
            Damage::Broken => "records are missing from its middle",
        }
    }
}

/// Of more than this only the end is looked at.
const FARTHEST: u64 = 64 << 20;

/// What is wrong with a file of JSON lines, as far as its end and its bytes tell. Agents write a
/// record and the end of its line at once.
pub(crate) fn of_lines(file: &Path) -> io::Result<Option<Damage>> {
    let mut file = File::open(file)?;
    let size = file.metadata()?.len();
    file.seek(SeekFrom::Start(size.saturating_sub(FARTHEST)))?;
    let mut chunk = vec![0; 64 << 10];
    loop {
        let read = file.read(&mut chunk)?;
        if read == 0 {
            break;
        }
        if memchr(0, &chunk[..read]).is_some() {
            return Ok(Some(Damage::Zeroed));
        }
    }
    let Some(last) = last_line(&mut file, size)? else { return Ok(None) };
    let whole = last.strip_suffix(b"\n").is_some_and(|line| line.trim_ascii().is_empty() || ends_whole(line));
    Ok((!whole).then_some(Damage::Torn))
}

/// The last line with its end, if it has one; `None` if it is too long to be looked at.
fn last_line(file: &mut File, size: u64) -> io::Result<Option<Vec<u8>>> {
    for tail in [64 << 10, 1 << 20, 16 << 20] {
        file.seek(SeekFrom::Start(size.saturating_sub(tail)))?;
        let mut bytes = Vec::new();
        file.by_ref().take(tail).read_to_end(&mut bytes)?;
        let before_its_end = bytes.len().saturating_sub(1);
        if let Some(start) = memrchr(b'\n', &bytes[..before_its_end]) {
            return Ok(Some(bytes.split_off(start + 1)));
        }
        if tail >= size {
            return Ok(Some(bytes));
        }
    }
    Ok(None)
}

/// Whether a line is a record, or ends in one: after a crash agents write on where a torn record
/// stands.
fn ends_whole(line: &[u8]) -> bool {
    const MOST_TRIES: usize = 256;
    let is_record = |text: &[u8]| serde_json::from_slice::<IgnoredAny>(text).is_ok();
    memmem::find_iter(line, b"{\"").take(MOST_TRIES).any(|start| is_record(&line[start..]))
}

/// Whether a session in which each record names the one before it is interrupted. `read` gives the
/// id of a record and that of the one before it, which is empty for the first.
pub(crate) fn of_chain(
    file: &Path,
    read: impl Fn(&[u8]) -> Option<(String, String)>,
) -> io::Result<Option<Damage>> {
    let file = File::open(file)?;
    if file.metadata()?.len() > FARTHEST {
        return Ok(None);
    }
    let (mut before, mut last) = (HashMap::new(), None);
    let mut reader = BufReader::new(file.take(FARTHEST));
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line)? > 0 {
        if let Some((id, parent)) = read(&line) {
            before.insert(id.clone(), parent);
            last = Some(id);
        }
        line.clear();
    }
    let mut next = last.unwrap_or_default();
    while !next.is_empty() {
        // Each is taken out: a circle has no first record either.
        match before.remove(&next) {
            Some(parent) => next = parent,
            None => return Ok(Some(Damage::Broken)),
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn damage(bytes: &[u8]) -> Option<Damage> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        of_lines(file.path()).unwrap()
    }

    #[test]
    fn the_end_of_a_file_must_be_the_end_of_a_record() {
        let long = format!("{{\"a\":1}}\n{{\"b\":\"{}\"}}\n", "x".repeat(2 << 20));
        for sound in [
            "{\"a\":1}\n",
            "{\"a\":1}\n{\"b\":\"\\ud83d\",\"c\":1e999}\n",
            "{}\n{\"a\":{\"b\":2}}\n\n",
            &long,
        ] {
            assert_eq!(damage(sound.as_bytes()), None, "{sound:.60}");
        }
        for torn in [
            "{\"a\":1}",
            "{\"a\":1}\n{\"b\":",
            "{\"a\":1}\n{\"b\":\n",
            "{\"a\":1}\nnoise\n",
            &long[..long.len() - 9],
        ] {
            assert_eq!(damage(torn.as_bytes()), Some(Damage::Torn), "{torn:.60}");
        }
    }

    #[test]
    fn a_record_that_follows_a_torn_one_on_its_line_counts() {
        assert_eq!(damage(b"{\"a\":1}\n{\"b\":{\"te{\"c\":{\"d\":1}}\n"), None);
    }

    #[test]
    fn zeros_are_seen_wherever_they_are() {
        for zeroed in [&b"\0\0\0\0"[..], b"{\"a\":1}\n\0\0\0", b"{\"a\":\0}\n{\"b\":2}\n"] {
            assert_eq!(damage(zeroed), Some(Damage::Zeroed));
        }
    }
}
