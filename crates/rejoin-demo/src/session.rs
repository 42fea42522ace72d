//! The store: one append-only file of JSON lines per session.

use std::borrow::Cow;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// A line of the store.
#[derive(Serialize, Deserialize, Debug)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Record<'a> {
    /// The first line.
    Session {
        id: Cow<'a, str>,
        cwd: Cow<'a, str>,
        /// Milliseconds since 1970.
        created: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reissued_from: Option<Cow<'a, str>>,
    },
    User {
        text: Cow<'a, str>,
        /// Files that came along, in words.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        files: Vec<String>,
    },
    Assistant {
        text: Cow<'a, str>,
    },
    Compaction {
        text: Cow<'a, str>,
    },
    /// A line of a later version.
    #[serde(other)]
    Unknown,
}

/// A session and what it remembers.
pub(crate) struct Session {
    pub(crate) id: String,
    pub(crate) reissued_from: Option<String>,
    /// The prompts, oldest first.
    pub(crate) prompts: Vec<String>,
    /// The files that came with them, in words.
    pub(crate) files: Vec<String>,
    /// How many bytes of text it holds.
    pub(crate) bytes: u64,
    place: Place,
}

/// Where a session is written.
enum Place {
    Nowhere,
    /// Not there yet: the first record makes it.
    New(PathBuf),
    Stored(PathBuf),
    Open(File),
}

/// Where sessions are kept.
pub(crate) struct Store<'a> {
    dir: Option<&'a Path>,
    keep: bool,
}

impl<'a> Store<'a> {
    /// Without `keep` sessions are read and not written.
    pub(crate) fn new(dir: Option<&'a Path>, keep: bool) -> Self {
        Self { dir, keep }
    }

    /// The file of a session; ids that cannot be file names have none.
    fn path(&self, id: &str) -> Option<PathBuf> {
        self.dir.filter(|_| is_id(id)).map(|dir| dir.join(format!("{id}.jsonl")))
    }

    pub(crate) fn holds(&self, id: &str) -> bool {
        self.path(id).is_some_and(|path| path.symlink_metadata().is_ok())
    }

    /// An empty session; nothing is written before its first record.
    pub(crate) fn start(&self, id: String) -> Session {
        let place = self.path(&id).filter(|_| self.keep).map_or(Place::Nowhere, Place::New);
        Session { id, reissued_from: None, prompts: Vec::new(), files: Vec::new(), bytes: 0, place }
    }

    /// A stored session; `None` if there is none of this id.
    pub(crate) fn load(&self, id: &str) -> io::Result<Option<Session>> {
        let Some(path) = self.path(id) else { return Ok(None) };
        let content = match fs::read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            content => content?,
        };
        let mut lines = content.split(|&byte| byte == b'\n').map(serde_json::from_slice::<Record<'_>>);
        if !matches!(lines.next(), Some(Ok(Record::Session { id: stored, .. })) if stored == id) {
            return Ok(None);
        }
        let place = if self.keep { Place::Stored(path) } else { Place::Nowhere };
        let mut session = Session {
            id: id.to_owned(),
            reissued_from: None,
            prompts: Vec::new(),
            files: Vec::new(),
            bytes: 0,
            place,
        };
        // A line that cannot be read was torn by a crash: the others still count.
        for record in lines.flatten() {
            match record {
                Record::User { text, files } => {
                    session.files.extend(files);
                    session.bytes += text.len() as u64;
                    session.prompts.push(text.into_owned());
                }
                Record::Assistant { text } | Record::Compaction { text } => {
                    session.bytes += text.len() as u64;
                }
                Record::Session { .. } | Record::Unknown => {}
            }
        }
        Ok(Some(session))
    }

    /// A session copied under a new id.
    pub(crate) fn reissue(&self, mut session: Session) -> io::Result<Session> {
        let new = self.other_id(&session.id);
        let old = std::mem::replace(&mut session.id, new);
        if let (Place::Stored(from), Some(to)) = (&session.place, self.path(&session.id)) {
            let content = fs::read(from)?;
            let after_header =
                content.iter().position(|&byte| byte == b'\n').map_or(content.len(), |at| at + 1);
            let mut copy = line(&header(&session.id, Some(&old)))?;
            copy.extend_from_slice(&content[after_header..]);
            create(&to)?.write_all(&copy)?;
            session.place = Place::Stored(to);
        }
        session.reissued_from = Some(old);
        Ok(session)
    }

    /// An id that looks random and follows from another one: the first that is not taken.
    pub(crate) fn other_id(&self, id: &str) -> String {
        let mut number = 0u64;
        loop {
            let halves = [fnv(id, number), fnv(id, !number)];
            let mut bytes = [0; 16];
            for (target, byte) in bytes.iter_mut().zip(halves.iter().flat_map(|half| half.to_le_bytes())) {
                *target = byte;
            }
            let other = uuid::Builder::from_random_bytes(bytes).into_uuid().to_string();
            if !self.holds(&other) {
                return other;
            }
            number += 1;
        }
    }
}

impl Session {
    /// Whether it will be there next time.
    pub(crate) fn is_kept(&self) -> bool {
        !matches!(self.place, Place::Nowhere)
    }

    /// Writes a record, if the session is kept.
    pub(crate) fn append(&mut self, record: &Record<'_>) -> io::Result<()> {
        let mut bytes = Vec::new();
        let mut file = match std::mem::replace(&mut self.place, Place::Nowhere) {
            Place::Nowhere => return Ok(()),
            Place::Open(file) => file,
            Place::New(path) => {
                bytes = line(&header(&self.id, None))?;
                create(&path)?
            }
            Place::Stored(path) => {
                let mut file = OpenOptions::new().read(true).append(true).open(path)?;
                if is_torn(&mut file)? {
                    bytes.push(b'\n');
                }
                file
            }
        };
        bytes.append(&mut line(record)?);
        file.write_all(&bytes)?;
        self.place = Place::Open(file);
        Ok(())
    }
}

/// Whether an id can be one of ours: it becomes a file name.
pub(crate) fn is_id(id: &str) -> bool {
    (1..=128).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

fn create(path: &Path) -> io::Result<File> {
    if let Some(dir) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    }
    OpenOptions::new().append(true).create_new(true).mode(0o600).open(path)
}

fn header<'a>(id: &'a str, reissued_from: Option<&'a str>) -> Record<'a> {
    let cwd = std::env::current_dir().unwrap_or_default().to_string_lossy().into_owned();
    let created = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as u64;
    Record::Session { id: id.into(), cwd: cwd.into(), created, reissued_from: reissued_from.map(Cow::from) }
}

fn line(record: &Record<'_>) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(record)?;
    line.push(b'\n');
    Ok(line)
}

fn is_torn(file: &mut File) -> io::Result<bool> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

/// FNV-1a with a finish that spreads the bits.
fn fnv(text: &str, seed: u64) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64 ^ seed;
    for byte in text.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash = (hash ^ (hash >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    hash ^ (hash >> 32)
}
