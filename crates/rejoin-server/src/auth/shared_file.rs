//! A small file in the home that the daemon and commands both read and change: read again when it changed, replaced
//! as a whole, one writer at a time.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use rejoin_journal::{JournalError, private};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// More than any of these files can hold by our doing.
const LARGEST: u64 = 1 << 20;
/// Clocks of file systems go by ticks: what was changed this recently may be changed once more without its time
/// telling it, so it is read each time.
const YOUNG: Duration = Duration::from_secs(2);

/// Such a file.
pub(super) struct SharedFile<T> {
    path: PathBuf,
    parse: fn(&[u8]) -> Result<T, String>,
    known: Mutex<Option<Known<T>>>,
    /// Whether a damaged one counts as an empty one, and is written over.
    expendable: bool,
}

/// What stood in it when it was read last.
struct Known<T> {
    /// `None` if it does not tell enough yet.
    stamp: Option<Stamp>,
    content: Result<Arc<T>, String>,
}

/// Tells two states of a file apart.
type Stamp = (u64, u64, i64, i64, i64, i64);

impl<T> SharedFile<T> {
    pub(super) fn new(path: PathBuf, parse: fn(&[u8]) -> Result<T, String>) -> Self {
        Self { path, parse, known: Mutex::new(None), expendable: false }
    }

    /// What stands in it now, `None` if there is no such file. What cannot be read or understood is an error, every
    /// time, and told in the log once.
    pub(super) fn read(&self) -> Result<Option<Arc<T>>, rejoin::Error> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let metadata = match fs::metadata(&self.path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                *known = None;
                return Ok(None);
            }
            Err(error) => return Err(refused("look at", &self.path)(error)),
        };
        let stamp = stamp(&metadata);
        if let Some(known) = known.as_ref()
            && known.stamp == Some(stamp)
        {
            return known.content.clone().map(Some).map_err(|why| self.damaged(why));
        }
        let content = self.read_bytes(&metadata).and_then(|bytes| (self.parse)(&bytes)).map(Arc::new);
        let told = known.as_ref().is_some_and(|known| known.content.as_ref().err() == content.as_ref().err());
        if let Err(why) = &content
            && !told
        {
            tracing::error!(file = %self.path.display(), why, "damaged: whatever it would allow is refused");
        }
        let young = metadata
            .modified()
            .is_ok_and(|time| SystemTime::now().duration_since(time).is_ok_and(|age| age < YOUNG));
        *known = Some(Known { stamp: (!young).then_some(stamp), content: content.clone() });
        content.map(Some).map_err(|why| self.damaged(why))
    }

    fn read_bytes(&self, metadata: &fs::Metadata) -> Result<Vec<u8>, String> {
        // Opening a pipe would wait for somebody to write to it.
        if !metadata.is_file() {
            return Err("it is no file".to_owned());
        }
        let open = private::open(OpenOptions::new().read(true), &self.path);
        let file = open.map_err(|error| error.to_string())?;
        let mut bytes = Vec::new();
        file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
        if bytes.len() as u64 > LARGEST {
            return Err("it is larger than it can be".to_owned());
        }
        Ok(bytes)
    }

    fn damaged(&self, why: String) -> rejoin::Error {
        refused("use", &self.path)(io::Error::new(io::ErrorKind::InvalidData, why))
    }

    /// Keeps every other writer of such files in this home out until it is dropped.
    pub(super) fn lock(&self) -> Result<File, rejoin::Error> {
        let path = self.path.with_file_name("auth.lock");
        let file = private::open(OpenOptions::new().create(true).truncate(false).write(true), &path)?;
        file.lock().map_err(refused("lock", &path))?;
        Ok(file)
    }

    /// Replaces it as a whole; the caller has the lock.
    pub(super) fn replace(&self, bytes: &[u8]) -> Result<(), rejoin::Error> {
        Ok(private::write_atomically(&self.path, bytes)?)
    }
}

impl<T: Clone + Default + Serialize + DeserializeOwned> SharedFile<T> {
    /// One that holds JSON.
    pub(super) fn json(path: PathBuf) -> Self {
        Self::new(path, |bytes| serde_json::from_slice(bytes).map_err(|error| error.to_string()))
    }

    /// One that holds JSON which nobody misses for long: were it damaged, what it allowed is refused, and the next
    /// change begins anew.
    pub(super) fn expendable_json(path: PathBuf) -> Self {
        Self { expendable: true, ..Self::json(path) }
    }

    /// What stands in it now; what an empty one would hold if there is none.
    pub(super) fn get(&self) -> Result<Arc<T>, rejoin::Error> {
        match self.read() {
            Err(_) if self.expendable => Ok(Arc::default()),
            content => Ok(content?.unwrap_or_default()),
        }
    }

    /// Changes what stands in it, unless the change is refused.
    pub(super) fn change<R>(
        &self,
        change: impl FnOnce(&mut T) -> Result<R, rejoin::Error>,
    ) -> Result<R, rejoin::Error> {
        let _lock = self.lock()?;
        let mut content = T::clone(&*self.get()?);
        let changed = change(&mut content)?;
        let mut text =
            serde_json::to_vec_pretty(&content).map_err(|error| self.damaged(error.to_string()))?;
        text.push(b'\n');
        self.replace(&text)?;
        Ok(changed)
    }
}

fn refused(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> rejoin::Error {
    move |cause| JournalError::Io { what, path: path.to_owned(), cause }.into()
}

fn stamp(metadata: &fs::Metadata) -> Stamp {
    (
        metadata.ino(),
        metadata.size(),
        metadata.mtime(),
        metadata.mtime_nsec(),
        metadata.ctime(),
        metadata.ctime_nsec(),
    )
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn another_writer_is_noticed_at_once_and_nothing_of_either_is_lost() {
        let dir = tempfile::tempdir().unwrap();
        let at = dir.path().join("list.json");
        let [ours, theirs] = [(); 2].map(|()| SharedFile::<Vec<u32>>::json(at.clone()));
        for number in 0..20 {
            let (writer, reader) = if number % 2 == 0 { (&ours, &theirs) } else { (&theirs, &ours) };
            writer
                .change(|list| {
                    list.push(number);
                    Ok(())
                })
                .unwrap();
            assert_eq!(*reader.get().unwrap(), (0..=number).collect::<Vec<_>>());
        }
        assert_eq!(fs::metadata(&at).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_damaged_file_is_an_error_until_it_is_mended_and_is_not_written_over() {
        let dir = tempfile::tempdir().unwrap();
        let file = SharedFile::<Vec<u32>>::json(dir.path().join("list.json"));
        fs::write(&file.path, "[1, 2").unwrap();
        assert!(file.get().is_err() && file.get().is_err());
        assert!(
            file.change(|list| {
                list.push(3);
                Ok(())
            })
            .is_err()
        );
        assert_eq!(fs::read_to_string(&file.path).unwrap(), "[1, 2");
        fs::write(&file.path, "[1, 2]").unwrap();
        assert_eq!(*file.get().unwrap(), [1, 2]);
        fs::remove_file(&file.path).unwrap();
        assert!(file.get().unwrap().is_empty());
    }

    #[test]
    fn a_damaged_file_that_is_expendable_allows_nothing_and_begins_anew() {
        let dir = tempfile::tempdir().unwrap();
        let file = SharedFile::<Vec<u32>>::expendable_json(dir.path().join("list.json"));
        file.change(|list| {
            list.extend([1, 2]);
            Ok(())
        })
        .unwrap();
        fs::write(&file.path, "[1, 2").unwrap();
        assert!(file.get().unwrap().is_empty());
        file.change(|list| {
            list.push(3);
            Ok(())
        })
        .unwrap();
        assert_eq!(*file.get().unwrap(), [3]);
    }

    #[test]
    fn what_is_no_file_or_has_no_end_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        assert!(SharedFile::<Vec<u32>>::json(dir.path().to_owned()).get().is_err());
        let long = SharedFile::<Vec<u32>>::json(dir.path().join("long"));
        fs::write(&long.path, vec![b' '; (LARGEST + 1) as usize]).unwrap();
        assert!(long.get().is_err());
    }
}
