use std::collections::HashMap;
use std::fs::{self, DirEntry, File, OpenOptions};
use std::io;
use std::ops::ControlFlow;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rejoin_core::{ConversationId, ConversationInfo};

use crate::append::{FileAppender, wait_for_writer};
use crate::lines::Lines;
use crate::project_name::project_name;
use crate::scan::{Scanned, scan};
use crate::store::newest_first;
use crate::{
    Append, Entry, JournalError, LONGEST_LINE, Listed, Problem, RawRecord, Standing, Store, pick, private,
};

/// Journals as files: `projects/<project>/<conversation>.jsonl`.
#[derive(Clone, Debug)]
pub struct FileStore {
    projects: PathBuf,
    /// Where journals were found: an id alone does not name a directory.
    known: Arc<Mutex<HashMap<ConversationId, PathBuf>>>,
}

impl FileStore {
    /// The journals below a directory, which need not be there yet.
    pub fn new(projects: PathBuf) -> Self {
        Self { projects, known: Arc::default() }
    }

    /// The file of a conversation.
    pub fn path(&self, id: ConversationId) -> Result<PathBuf, JournalError> {
        let known = self.known().get(&id).cloned();
        if let Some(path) = known.filter(|path| path.is_file()) {
            return Ok(path);
        }
        let mut found: Option<PathBuf> = None;
        for directory in self.directories()? {
            let path = directory.join(file_name(id));
            if path.is_file() {
                if let Some(one) = found {
                    return Err(JournalError::Twice { id, one, other: path });
                }
                found = Some(path);
            }
        }
        let Some(path) = found else {
            return Err(JournalError::NotFound { id, place: self.projects.display().to_string() });
        };
        self.known().insert(id, path.clone());
        Ok(path)
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<ConversationId, PathBuf>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn directories(&self) -> Result<Vec<PathBuf>, JournalError> {
        Ok(entries_of(&self.projects)?.iter().map(DirEntry::path).filter(|path| path.is_dir()).collect())
    }

    fn open(&self, id: ConversationId) -> Result<(File, PathBuf), JournalError> {
        let path = self.path(id)?;
        let file = File::open(&path).map_err(JournalError::io("open", &path))?;
        Ok((file, path))
    }
}

impl Store for FileStore {
    fn create(&self, id: ConversationId, info: &ConversationInfo) -> Result<(), JournalError> {
        match self.path(id) {
            Err(JournalError::NotFound { .. }) => {}
            Err(error) => return Err(error),
            Ok(_) => return Err(JournalError::Exists { id }),
        }
        let directory = self.projects.join(project_name(&info.project));
        private::create_dir(&directory)?;
        let path = directory.join(file_name(id));
        private::open(OpenOptions::new().append(true).create_new(true), &path).map_err(
            |error| match error {
                JournalError::Io { cause, .. } if cause.kind() == io::ErrorKind::AlreadyExists => {
                    JournalError::Exists { id }
                }
                error => error,
            },
        )?;
        private::sync_dir(&directory)?;
        self.known().insert(id, path);
        Ok(())
    }

    fn appender(&self, id: ConversationId) -> Result<Box<dyn Append>, JournalError> {
        Ok(Box::new(FileAppender::open(self.path(id)?)?))
    }

    fn read(
        &self,
        id: ConversationId,
        from: u64,
        each: &mut dyn FnMut(Entry<'_>),
    ) -> Result<u64, JournalError> {
        let (file, path) = self.open(id)?;
        let length = || file.metadata().map(|metadata| metadata.len());
        let cannot_read = |error| JournalError::io("read", &path)(error);
        let now = length().map_err(cannot_read)?;
        if from > now {
            return Err(JournalError::Shrunk {
                place: path.display().to_string(),
                cursor: from,
                length: now,
            });
        }
        let mut lines = Lines::new(&file, LONGEST_LINE);
        let mut at = from;
        let mut before = (from == 0).then_some(0);
        loop {
            let Scanned { end, tail } = scan(&mut lines, at, before, each).map_err(cannot_read)?;
            let Some(tail) = tail else {
                return Ok(end);
            };
            wait_for_writer(&file);
            if length().map_err(cannot_read)? == end + tail.bytes {
                let content = Err(Problem::Torn { bytes: tail.bytes });
                each(Entry { place: end, line: tail.line, json: "", content });
                return Ok(end);
            }
            (at, before) = (end, tail.line.map(|line| line - 1));
        }
    }

    fn fetch(
        &self,
        id: ConversationId,
        places: &[u64],
        each: &mut dyn FnMut(u64, Result<RawRecord<'_>, Problem>),
    ) -> Result<(), JournalError> {
        let (file, path) = self.open(id)?;
        pick::fetch(file, places, each).map_err(JournalError::io("read", &path))
    }

    fn search(
        &self,
        id: ConversationId,
        text: &str,
        each: &mut dyn FnMut(RawRecord<'_>) -> ControlFlow<()>,
    ) -> Result<(), JournalError> {
        let (file, path) = self.open(id)?;
        pick::search(file, text, each).map_err(JournalError::io("read", &path))
    }

    fn ids(&self) -> Result<Vec<ConversationId>, JournalError> {
        let mut ids = Vec::new();
        for directory in self.directories()? {
            ids.extend(entries_of(&directory)?.iter().filter_map(|entry| id_of(&entry.path())));
        }
        ids.sort_unstable();
        ids.dedup();
        Ok(ids)
    }

    fn look(&self, project: Option<&str>) -> Result<Vec<Standing>, JournalError> {
        let directories = match project {
            Some(project) => vec![self.projects.join(project_name(project))],
            None => self.directories()?,
        };
        let mut all = Vec::new();
        for directory in directories {
            standings(&directory, &mut all)?;
        }
        all.sort_unstable_by(|a, b| b.modified.cmp(&a.modified).then(a.id.cmp(&b.id)));
        Ok(all)
    }

    fn list(&self, project: Option<&str>) -> Result<Vec<Listed>, JournalError> {
        let directories = match project {
            Some(project) => vec![self.projects.join(project_name(project))],
            None => self.directories()?,
        };
        let mut list = Vec::new();
        for directory in directories {
            for entry in entries_of(&directory)? {
                let Some(listed) = look_at(&entry.path())? else { continue };
                let elsewhere = listed.info.as_ref().is_some_and(|info| project != Some(&info.project));
                if project.is_none() || !elsewhere {
                    list.push(listed);
                }
            }
        }
        newest_first(&mut list);
        Ok(list)
    }
}

fn file_name(id: ConversationId) -> String {
    format!("{id}.jsonl")
}

fn id_of(path: &Path) -> Option<ConversationId> {
    let id = path.file_name()?.to_str()?.strip_suffix(".jsonl")?.parse().ok()?;
    (path.file_name()? == file_name(id).as_str()).then_some(id)
}

/// A journal as a list shows it; `None` for what is none, is gone, or was only reserved.
fn look_at(path: &Path) -> Result<Option<Listed>, JournalError> {
    let Some(id) = id_of(path) else {
        return Ok(None);
    };
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(JournalError::io("look at", path)(error)),
    };
    if metadata.len() == 0 || !metadata.is_file() {
        return Ok(None);
    }
    let modified = metadata.modified().map_err(JournalError::io("look at", path))?;
    let info = File::open(path).ok().and_then(pick::info);
    Ok(Some(Listed { id, info, modified, bytes: metadata.len() }))
}

/// Adds how the journals in a directory stand. Lists of tens of thousands are looked at by two at once.
fn standings(directory: &Path, all: &mut Vec<Standing>) -> Result<(), JournalError> {
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.and_then(Iterator::collect::<io::Result<Vec<_>>>),
    };
    let entries = entries.map_err(JournalError::io("read the directory", directory))?;
    let (one, other) = entries.split_at(if entries.len() > 1000 { entries.len() / 2 } else { 0 });
    let stand = |entries: &[DirEntry]| entries.iter().filter_map(standing).collect::<Vec<_>>();
    std::thread::scope(|scope| {
        let helper = (!one.is_empty()).then(|| scope.spawn(|| stand(one)));
        all.extend(stand(other));
        all.extend(helper.and_then(|helper| helper.join().ok()).unwrap_or_default());
    });
    Ok(())
}

/// `None` for what is no journal, is gone, or was only reserved.
fn standing(entry: &DirEntry) -> Option<Standing> {
    let name = entry.file_name();
    let name = name.to_str()?.strip_suffix(".jsonl")?;
    // An id has one spelling, the one it is looked for by.
    let id: ConversationId = name.parse().ok()?;
    let spelled = name.len() == 36 && !name.bytes().any(|byte| byte.is_ascii_uppercase());
    let metadata = entry.metadata().ok().filter(|metadata| metadata.len() > 0 && spelled)?;
    let metadata = if metadata.is_symlink() { fs::metadata(entry.path()).ok()? } else { metadata };
    let modified = metadata.modified().ok().filter(|_| metadata.is_file())?;
    Some(Standing { id, modified, bytes: metadata.len(), file: metadata.ino() })
}

/// What is in a directory, in a stable order; nothing if it is not there.
fn entries_of(directory: &Path) -> Result<Vec<DirEntry>, JournalError> {
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.and_then(Iterator::collect::<io::Result<Vec<_>>>),
    };
    let mut entries = entries.map_err(JournalError::io("read the directory", directory))?;
    entries.sort_unstable_by_key(DirEntry::file_name);
    Ok(entries)
}
