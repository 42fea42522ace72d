//! Files that go along with a prompt: read once, checked, hashed. Those of a prompt that waits are kept in the store.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rejoin_agents::Attached;
use rejoin_files::read_regular_file;
use rejoin_journal::{BlobError, BlobId, private};
use serde::{Deserialize, Serialize};

use crate::before::scratch;
use crate::during::record_writer::new_id;
use crate::{Engine, Order, TurnError};

/// The largest file that can be attached: more than any model takes.
const LARGEST: u64 = 10 << 20;
/// The most that can be attached to one turn.
const MOST: u64 = 20 << 20;

/// Reads the files to be attached. What is sent is what is read here.
pub fn read_attachments(paths: &[impl AsRef<Path>]) -> Result<Vec<Attached>, TurnError> {
    let mut all: Vec<Attached> = Vec::with_capacity(paths.len());
    for path in paths {
        add(&mut all, read(path.as_ref())?)?;
    }
    Ok(all)
}

/// Adds one to those of a turn.
fn add(all: &mut Vec<Attached>, mut attached: Attached) -> Result<(), TurnError> {
    while all.iter().any(|other| other.copy_name == attached.copy_name) {
        attached.copy_name.insert(0, '_');
    }
    all.push(attached);
    if all.iter().map(|attached| attached.about.size).sum::<u64>() > MOST {
        let text = format!("the attachments are larger than {} MiB together; leave some out", MOST >> 20);
        return Err(TurnError::Usage(text));
    }
    Ok(())
}

/// A file of a prompt that waits: its name, and where the store keeps what it held. Whatever becomes of the file, and
/// whoever carries the turn out, that is what is sent.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct KeptAttachment {
    /// Its name, without a directory.
    pub name: String,
    /// The hash of what it held.
    pub blob: BlobId,
}

impl Engine {
    /// Keeps files in the store, for a turn that is carried out later. They are kept until whoever does that has them
    /// [removed](rejoin_journal::Blobs::remove).
    pub fn keep_attachments(&self, paths: &[impl AsRef<Path>]) -> Result<Vec<KeptAttachment>, TurnError> {
        let keep = |attached: Attached| {
            let blob = self.store.blobs().put(&mut attached.bytes.as_slice()).map_err(blob_error)?;
            Ok(KeptAttachment { name: attached.about.name, blob })
        };
        read_attachments(paths)?.into_iter().map(keep).collect()
    }

    /// Reads what the store keeps for an order.
    pub(crate) fn read_kept_attachments(&self, order: &mut Order) -> Result<(), TurnError> {
        for kept in std::mem::take(&mut order.kept_attachments) {
            let bytes = self.store.blobs().get(&kept.blob).map_err(blob_error)?;
            add(&mut order.attachments, Attached::new(&kept.name, bytes, kept.blob.to_string()))?;
        }
        Ok(())
    }
}

fn blob_error(error: BlobError) -> TurnError {
    match error {
        BlobError::NotFound { .. } => TurnError::NotFound(error.to_string()),
        BlobError::Journal(error) => error.into(),
        _ => TurnError::Usage(error.to_string()),
    }
}

fn read(path: &Path) -> Result<Attached, TurnError> {
    let shown = path.display();
    let refused = |cause: std::io::Error| match cause.kind() {
        ErrorKind::NotFound => TurnError::NotFound(format!("there is no file {shown} to attach")),
        ErrorKind::IsADirectory | ErrorKind::InvalidInput => {
            TurnError::Usage(format!("{shown} is not a file and cannot be attached ({cause})"))
        }
        ErrorKind::FileTooLarge => TurnError::Usage(format!(
            "{shown} is larger than {} MiB and cannot be attached; name it in the prompt so that the agent opens it itself",
            LARGEST >> 20
        )),
        _ => TurnError::Usage(format!("cannot read {shown}, which should be attached: {cause}")),
    };
    let bytes = read_regular_file(path, LARGEST).map_err(refused)?;
    if bytes.is_empty() {
        return Err(TurnError::Usage(format!("{shown} is empty: there is nothing to attach")));
    }
    let hash = BlobId::of(&bytes).to_string();
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    Ok(Attached::new(&name, bytes, hash))
}

/// A new directory for copies of attachments, below an agent's own; it need not exist yet.
pub(crate) fn place_for_copies(own_dir: &Path) -> PathBuf {
    own_dir.join(format!("{}{}", scratch::ATTACHED, new_id()))
}

/// Puts copies of attachments there, for an agent that reads them itself.
pub(crate) fn write_copies(dir: &Path, attachments: &[Attached]) -> Result<(), TurnError> {
    for attached in attachments {
        private::write_atomically(&dir.join(&attached.copy_name), &attached.bytes)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_file_is_read_once_and_hashed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("abc.txt");
        fs::write(&path, "abc").unwrap();
        let all = read_attachments(&[&path, &path, &path]).unwrap();
        let about = &all[0].about;
        assert_eq!(
            (about.name.as_str(), about.media_type.as_str(), about.size),
            ("abc.txt", "text/plain", 3)
        );
        assert_eq!(about.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        let copies: Vec<&str> = all.iter().map(|attached| attached.copy_name.as_str()).collect();
        assert_eq!(copies, ["abc.txt", "_abc.txt", "__abc.txt"]);
    }

    #[test]
    fn what_cannot_be_attached_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str, size: usize| {
            let path = dir.path().join(name);
            fs::write(&path, vec![b'x'; size]).unwrap();
            path
        };
        let told = |paths: &[&Path]| read_attachments(paths).unwrap_err().to_string();
        assert!(matches!(read(&dir.path().join("no")), Err(TurnError::NotFound(_))));
        assert!(told(&[dir.path()]).contains("is not a file"));
        assert!(told(&[Path::new("/dev/zero")]).contains("is not a file"));
        assert!(told(&[&file("empty", 0)]).contains("is empty"));
        assert!(told(&[&file("large", (10 << 20) + 1)]).contains("larger than 10 MiB"));
        let full = file("full", 10 << 20);
        assert!(told(&[&full, &full, &file("one", 1)]).contains("larger than 20 MiB together"));
    }
}
