//! Bytes by their hash: what was attached to a prompt that waits.

use std::collections::HashMap;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::private::{self, Draft};
use crate::{BlobError, JournalError};

/// The longest that is kept.
pub const LONGEST_BLOB: u64 = 64 << 20;

/// Where bytes are kept by their hash.
pub trait Blobs: Send + Sync + fmt::Debug {
    /// Keeps bytes; on the disk when it returns. What is kept already is not kept twice.
    fn put(&self, bytes: &mut dyn Read) -> Result<BlobId, BlobError>;

    /// Bytes as they were kept. Damaged ones are not handed out.
    fn get(&self, id: &BlobId) -> Result<Vec<u8>, BlobError>;

    /// Forgets them; says whether they were there.
    fn remove(&self, id: &BlobId) -> Result<bool, BlobError>;
}

/// The SHA-256 of some bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BlobId([u8; 32]);

impl BlobId {
    /// Of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

impl fmt::Display for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A text that is no SHA-256.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{text:?} is no SHA-256: expected 64 digits of 0-9 a-f")]
pub struct NotABlobId {
    /// Its beginning.
    text: String,
}

impl FromStr for BlobId {
    type Err = NotABlobId;

    fn from_str(text: &str) -> Result<Self, NotABlobId> {
        let digit = |digit: u8| match digit {
            b'0'..=b'9' => Some(digit - b'0'),
            b'a'..=b'f' => Some(digit - b'a' + 10),
            _ => None,
        };
        let parse = || {
            let mut id = [0; 32];
            for (byte, pair) in id.iter_mut().zip(text.as_bytes().as_chunks().0) {
                let [high, low]: [u8; 2] = *pair;
                *byte = digit(high)? << 4 | digit(low)?;
            }
            (text.len() == 64).then_some(Self(id))
        };
        parse().ok_or_else(|| NotABlobId { text: text.chars().take(64).collect() })
    }
}

impl TryFrom<String> for BlobId {
    type Error = NotABlobId;

    fn try_from(text: String) -> Result<Self, NotABlobId> {
        text.parse()
    }
}

impl From<BlobId> for String {
    fn from(id: BlobId) -> Self {
        id.to_string()
    }
}

/// Bytes as files, named by their hash.
#[derive(Debug)]
pub(crate) struct FileBlobs {
    directory: PathBuf,
}

impl FileBlobs {
    /// Those in a directory, which need not be there yet.
    pub(crate) fn new(directory: PathBuf) -> Self {
        Self { directory }
    }

    fn path(&self, id: &BlobId) -> PathBuf {
        self.directory.join(id.to_string())
    }
}

impl Blobs for FileBlobs {
    fn put(&self, bytes: &mut dyn Read) -> Result<BlobId, BlobError> {
        private::create_dir(&self.directory)?;
        let draft = Draft::new(&self.directory.join("blob"))?;
        let mut hashed = Hashed { hash: Sha256::new(), to: &draft.file };
        let copied = io::copy(&mut bytes.take(LONGEST_BLOB + 1), &mut hashed);
        let id = BlobId(hashed.hash.finalize().into());
        if copied.map_err(JournalError::io("write", &draft.path))? > LONGEST_BLOB {
            return Err(BlobError::TooLong { limit: LONGEST_BLOB });
        }
        // What is there may be damaged: it is replaced, not believed.
        draft.file.sync_all().map_err(JournalError::io("write", &draft.path))?;
        draft.put_in_place(&self.path(&id))?;
        Ok(id)
    }

    fn get(&self, id: &BlobId) -> Result<Vec<u8>, BlobError> {
        let path = self.path(id);
        let cannot = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => BlobError::NotFound { id: *id },
            _ => JournalError::io("read", &path)(error).into(),
        };
        let mut bytes = Vec::new();
        let file = File::open(&path).map_err(cannot)?;
        file.take(LONGEST_BLOB + 1).read_to_end(&mut bytes).map_err(cannot)?;
        if BlobId::of(&bytes) != *id {
            return Err(BlobError::Damaged { id: *id, place: path.display().to_string() });
        }
        Ok(bytes)
    }

    fn remove(&self, id: &BlobId) -> Result<bool, BlobError> {
        let path = self.path(id);
        match fs::remove_file(&path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(JournalError::io("delete", &path)(error).into()),
        }
    }
}

/// Hashes what is written through it.
struct Hashed<W> {
    hash: Sha256,
    to: W,
}

impl<W: Write> Write for Hashed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.to.write(bytes)?;
        self.hash.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// Bytes that end with the process.
#[derive(Debug, Default)]
pub(crate) struct MemoryBlobs {
    kept: Mutex<HashMap<BlobId, Vec<u8>>>,
}

impl MemoryBlobs {
    fn kept(&self) -> MutexGuard<'_, HashMap<BlobId, Vec<u8>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Blobs for MemoryBlobs {
    fn put(&self, bytes: &mut dyn Read) -> Result<BlobId, BlobError> {
        let mut kept = Vec::new();
        let copied = bytes.take(LONGEST_BLOB + 1).read_to_end(&mut kept);
        let cannot = |cause| JournalError::Io { what: "read", path: "memory".into(), cause };
        if copied.map_err(cannot)? as u64 > LONGEST_BLOB {
            return Err(BlobError::TooLong { limit: LONGEST_BLOB });
        }
        let id = BlobId::of(&kept);
        self.kept().insert(id, kept);
        Ok(id)
    }

    fn get(&self, id: &BlobId) -> Result<Vec<u8>, BlobError> {
        self.kept().get(id).cloned().ok_or(BlobError::NotFound { id: *id })
    }

    fn remove(&self, id: &BlobId) -> Result<bool, BlobError> {
        Ok(self.kept().remove(id).is_some())
    }
}
