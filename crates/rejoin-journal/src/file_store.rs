use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::{self, DirEntry, File, OpenOptions};
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rejoin_core::{ConversationId, ConversationInfo, Envelope, Record};

use crate::append::{FileAppender, wait_for_writer, write_lines};
use crate::blobs::FileBlobs;
use crate::follow::Following;
use crate::lines::Lines;
use crate::load::load_anew;
use crate::logs::FileLogs;
use crate::moving::Moving;
use crate::project_name::project_name;
use crate::scan::{Scanned, scan};
use crate::{
    Adopted, Append, BeforeAdopting, Blobs, Changes, Cursor, Entry, JournalError, JournalFiles, JournalHead,
    JournalState, KeptOpen, LONGEST_LINE, Logs, Mark, Page, PageToken, Problem, RawRecord, Store, Waker,
    Writer, adopt, digest, private, random_access,
};

/// Journals as files: `projects/<project>/<conversation>.jsonl`.
#[derive(Clone, Debug)]
pub struct FileStore {
    projects: PathBuf,
    /// Where to keep what makes reading faster.
    load_cache: PathBuf,
    /// The directories journals were found in: an id alone does not name one.
    known: Arc<Mutex<HashMap<ConversationId, Arc<Path>>>>,
    blobs: Arc<FileBlobs>,
    logs: Arc<FileLogs>,
    /// For those who follow.
    pub(crate) following: Arc<Following>,
}

impl FileStore {
    /// The journals of a home, which need not be there yet.
    pub fn new(root: &Path) -> Self {
        let (projects, load_cache) = (root.join("projects"), root.join("cache").join("folds"));
        let blobs = Arc::new(FileBlobs::new(root.join("blobs")));
        Self {
            projects,
            load_cache,
            blobs,
            logs: Arc::new(FileLogs::new(root)),
            known: Arc::default(),
            following: Arc::default(),
        }
    }

    /// The file of a conversation.
    pub fn path(&self, id: ConversationId) -> Result<PathBuf, JournalError> {
        let known = self.known().get(&id).map(|directory| directory.join(file_name(id)));
        if let Some(path) = known.filter(|path| path.is_file()) {
            return Ok(path);
        }
        let mut found: Option<(Arc<Path>, PathBuf)> = None;
        for directory in self.directories()? {
            let path = directory.join(file_name(id));
            if path.is_file() {
                if let Some((_, one)) = found {
                    return Err(JournalError::Twice { id, one, other: path });
                }
                found = Some((directory, path));
            }
        }
        let Some((directory, path)) = found else {
            return Err(JournalError::NotFound { id, place: self.projects.display().to_string() });
        };
        self.known().insert(id, directory);
        Ok(path)
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<ConversationId, Arc<Path>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How a journal stands; `None` if it is not there, or empty.
    pub(crate) fn state(&self, id: ConversationId) -> Result<Option<JournalState>, JournalError> {
        let path = match self.path(id) {
            Err(JournalError::NotFound { .. }) => return Ok(None),
            path => path?,
        };
        Ok(fs::metadata(&path).ok().and_then(|metadata| state_of(id, &metadata)))
    }

    /// The directory of all directories of projects.
    pub(crate) fn projects(&self) -> &Path {
        &self.projects
    }

    fn directory(&self, project: &str) -> Arc<Path> {
        self.projects.join(project_name(project)).into()
    }

    /// Remembers where all journals are; those that are there twice are looked for when they are
    /// wanted, and then complained about.
    fn remember(&self, all: &[(JournalState, &Arc<Path>)]) {
        let mut known = HashMap::with_capacity(all.len());
        let mut twice = Vec::new();
        for (standing, directory) in all {
            if known.insert(standing.id, Arc::clone(directory)).is_some() {
                twice.push(standing.id);
            }
        }
        for id in twice {
            known.remove(&id);
        }
        *self.known() = known;
    }

    pub(crate) fn directories(&self) -> Result<Vec<Arc<Path>>, JournalError> {
        let entries = entries_of(&self.projects)?;
        entries.iter().for_each(private::sweep_if_draft);
        Ok(entries.iter().map(DirEntry::path).filter(|path| path.is_dir()).map(Arc::from).collect())
    }

    /// What is in the directories of projects, in a stable order; moves into them that were cut off are
    /// finished first.
    fn journals_in<'a>(
        &self,
        directories: &'a [Arc<Path>],
    ) -> Result<Vec<(DirEntry, &'a Arc<Path>)>, JournalError> {
        let read = || -> Result<Vec<_>, JournalError> {
            let mut all = Vec::new();
            for directory in directories {
                all.extend(entries_of(directory)?.into_iter().map(|entry| (entry, directory)));
            }
            Ok(all)
        };
        let entries = read()?;
        let mut some_were_moving = false;
        for (entry, directory) in entries.iter().filter(|(entry, _)| Moving::is_marker(entry)) {
            some_were_moving = true;
            // What cannot be finished now is tried again by the next one to look.
            if let Some((moving, id)) = Moving::cut_off(entry)
                && self.finish(directory, id).is_ok()
            {
                moving.done();
            }
        }
        if some_were_moving { read() } else { Ok(entries) }
    }

    /// Where a journal belongs that is not in place yet. It may say that its project was moved.
    fn place_for(
        &self,
        id: ConversationId,
        journal: &Path,
        info: &ConversationInfo,
    ) -> Result<PathBuf, JournalError> {
        let open = || File::open(journal).map_err(JournalError::io("open", journal));
        let first = random_access::info(open()?).unwrap_or_else(|| info.clone());
        let mut now = first.clone();
        random_access::follow_moves(open()?, &mut now);
        let directory = self.directory(&now.project);
        private::create_dir(&directory)?;
        if now.project != first.project {
            mark_as_moved_to(&directory)?;
        }
        Ok(directory.join(file_name(id)))
    }

    /// Brings a journal into a directory, if it says that it belongs there.
    fn finish(&self, directory: &Path, id: ConversationId) -> Result<(), JournalError> {
        let from = match self.path(id) {
            Err(JournalError::NotFound { .. }) => return Ok(()),
            path => path?,
        };
        let to = directory.join(file_name(id));
        let open = || File::open(&from).map_err(JournalError::io("open", &from));
        let Some(mut info) = random_access::info(open()?) else { return Ok(()) };
        random_access::follow_moves(open()?, &mut info);
        if from != to && directory.file_name().and_then(OsStr::to_str) == Some(&project_name(&info.project)) {
            rename_lasting(&from, &to)?;
            self.known().insert(id, directory.into());
        }
        Ok(())
    }

    pub(crate) fn open(&self, id: ConversationId) -> Result<(File, PathBuf), JournalError> {
        let path = self.path(id)?;
        let file = File::open(&path).map_err(JournalError::io("open", &path))?;
        Ok((file, path))
    }
}

impl Store for FileStore {
    fn create(
        &self,
        id: ConversationId,
        info: &ConversationInfo,
        first: &[Record],
        writer: Writer,
    ) -> Result<Box<dyn Append>, JournalError> {
        writer.check(id)?;
        match self.path(id) {
            Err(JournalError::NotFound { .. }) => {}
            Err(error) => return Err(error),
            Ok(_) => return Err(JournalError::Exists { id }),
        }
        let directory = self.projects.join(project_name(&info.project));
        private::create_dir(&directory)?;
        let path = directory.join(file_name(id));
        let mut lines = Vec::new();
        write_lines(first, &mut lines)?;
        adopt::begin(&path, id, &lines[1..])?;
        self.known().insert(id, directory.into());
        Ok(Box::new(FileAppender::open(path)?.after(lines.len() as u64 - 1).written_by(id, writer)))
    }

    fn appender(&self, id: ConversationId, writer: Writer) -> Result<Box<dyn Append>, JournalError> {
        writer.check(id)?;
        Ok(Box::new(FileAppender::open(self.path(id)?)?.written_by(id, writer)))
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
            let all = &mut |entry: Entry<'_>| {
                each(entry);
                ControlFlow::Continue(())
            };
            let Scanned { end, tail } = scan(&mut lines, at, before, all).map_err(cannot_read)?;
            let Some(tail) = tail else {
                return Ok(end);
            };
            wait_for_writer(&file);
            if length().map_err(cannot_read)? == end + tail.bytes {
                let content = Err(Problem::Torn { bytes: tail.bytes });
                each(Entry { place: end, end, line: tail.line, json: "", content, limits: tail.limits });
                return Ok(end);
            }
            (at, before) = (end, tail.line.map(|line| line - 1));
        }
    }

    fn tail(
        &self,
        id: ConversationId,
        from: u64,
        timeout: Duration,
        waker: &Waker,
        each: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> Result<u64, JournalError> {
        self.follow(id, from, None, timeout, waker, &mut KeptOpen::default(), each)
    }

    fn tail_on(
        &self,
        id: ConversationId,
        from: u64,
        known: &Cursor,
        timeout: Duration,
        waker: &Waker,
        kept: &mut KeptOpen,
        each: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> Result<Cursor, JournalError> {
        let end = self.follow(id, from, Some(known), timeout, waker, kept, each)?;
        if known.position() == end {
            return Ok(*known);
        }
        let cursor = self.cursor_on(id, end, kept)?;
        if let Some(journal) = &mut kept.journal {
            journal.newest = Some(cursor);
        }
        Ok(cursor)
    }

    fn cursor_on(&self, id: ConversationId, place: u64, kept: &KeptOpen) -> Result<Cursor, JournalError> {
        match &kept.journal {
            Some(journal) => journal.cursor(id, place),
            None => self.cursor(id, place),
        }
    }

    fn changes(&self, since: &Mark) -> Result<Changes, JournalError> {
        self.changes_now(since)
    }

    fn await_changes(&self, since: &Mark, timeout: Duration, waker: &Waker) -> Result<Changes, JournalError> {
        self.next_changes(since, timeout, waker)
    }

    fn cursor(&self, id: ConversationId, place: u64) -> Result<Cursor, JournalError> {
        if place == 0 {
            return Ok(Cursor::BEGINNING);
        }
        let (file, path) = self.open(id)?;
        let cursor = digest::cursor_at(file, id, place).map_err(JournalError::io("read", &path))?;
        cursor.map_err(|why| JournalError::Diverged { id, why })
    }

    fn place(&self, id: ConversationId, cursor: &Cursor) -> Result<u64, JournalError> {
        if *cursor == Cursor::BEGINNING {
            return Ok(0);
        }
        let (file, path) = self.open(id)?;
        let place = digest::place_of(file, id, cursor).map_err(JournalError::io("read", &path))?;
        place.map_err(|why| JournalError::Diverged { id, why })
    }

    fn fetch(
        &self,
        id: ConversationId,
        places: &[u64],
        each: &mut dyn FnMut(u64, Result<RawRecord<'_>, Problem>),
    ) -> Result<(), JournalError> {
        let (file, path) = self.open(id)?;
        random_access::fetch(file, places, each).map_err(JournalError::io("read", &path))
    }

    fn search(
        &self,
        id: ConversationId,
        text: &str,
        each: &mut dyn FnMut(RawRecord<'_>) -> ControlFlow<()>,
    ) -> Result<(), JournalError> {
        let (file, path) = self.open(id)?;
        random_access::search(file, text, each).map_err(JournalError::io("read", &path))
    }

    fn read_back(
        &self,
        id: ConversationId,
        each: &mut dyn FnMut(&Envelope<'_>) -> ControlFlow<()>,
    ) -> Result<(), JournalError> {
        let (file, path) = self.open(id)?;
        random_access::read_back(file, each).map_err(JournalError::io("read", &path))
    }

    fn adopt(
        &self,
        id: ConversationId,
        info: &ConversationInfo,
        bytes: &mut dyn Read,
        before: BeforeAdopting<'_>,
    ) -> Result<Adopted, JournalError> {
        match self.path(id) {
            Err(JournalError::NotFound { .. }) => {
                private::create_dir(&self.projects)?;
                private::sweep_drafts(&self.directory(&info.project));
                let draft_of = self.projects.join(file_name(id));
                adopt::take_in(&draft_of, id, bytes, before, |journal| self.place_for(id, journal, info))
            }
            Err(error) => Err(error),
            Ok(path) => {
                path.parent().map(private::sweep_drafts);
                adopt::go_on_as(path, id, bytes, before)
            }
        }
    }

    fn remove(&self, id: ConversationId) -> Result<(), JournalError> {
        let path = self.path(id)?;
        self.forget_load(id);
        fs::remove_file(&path).map_err(JournalError::io("delete", &path))?;
        self.known().remove(&id);
        path.parent().map_or(Ok(()), private::sync_dir)
    }

    fn files(&self) -> Result<&dyn JournalFiles, JournalError> {
        Ok(self)
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

    fn look(&self, project: Option<&str>) -> Result<Vec<JournalState>, JournalError> {
        let directories = match project {
            Some(project) => vec![self.directory(project)],
            None => self.directories()?,
        };
        let entries = self.journals_in(&directories)?;
        for (entry, _) in &entries {
            private::sweep_if_draft(entry);
        }
        let found = standings(&entries);
        if project.is_none() {
            self.remember(&found);
        }
        let mut all: Vec<JournalState> = found.into_iter().map(|(standing, _)| standing).collect();
        JournalState::newest_first(&mut all);
        Ok(all)
    }

    fn look_at(&self, id: ConversationId) -> Result<Option<JournalState>, JournalError> {
        self.state(id)
    }

    fn list_page(
        &self,
        project: Option<&str>,
        limit: usize,
        after: Option<&PageToken>,
    ) -> Result<Page, JournalError> {
        let directories = match project {
            Some(project) => vec![self.directory(project)],
            None => self.directories()?,
        };
        let entries = self.journals_in(&directories)?;
        let some_moved: HashSet<&Arc<Path>> =
            entries.iter().filter(|(entry, _)| entry.file_name() == MOVED).map(|(_, place)| *place).collect();
        let mut found = standings(&entries);
        found.sort_unstable_by(|(a, _), (b, _)| b.modified.cmp(&a.modified).then(a.id.cmp(&b.id)));
        found.retain(|(state, _)| after.is_none_or(|token| token.is_before(state)));
        let mut heads = Vec::new();
        let mut last = None;
        for (state, place) in found {
            if heads.len() == limit {
                return Ok(Page { heads, next: last.as_ref().map(PageToken::after) });
            }
            let path = place.join(file_name(state.id));
            let mut info = head_of(&path, some_moved.contains(place))?;
            if info.is_none() {
                info = load_anew(self, state.id).ok().and_then(|loaded| loaded.conversation.info);
            }
            let elsewhere = info.as_ref().is_some_and(|info| project != Some(&info.project));
            if project.is_none() || !elsewhere {
                heads.push(JournalHead::new(&state, info));
                last = Some(state);
            }
        }
        Ok(Page { heads, next: None })
    }

    fn blobs(&self) -> &dyn Blobs {
        &*self.blobs
    }

    fn logs(&self) -> &dyn Logs {
        &*self.logs
    }
}

impl JournalFiles for FileStore {
    fn raw(&self, id: ConversationId) -> Result<Box<dyn Read + Send>, JournalError> {
        Ok(Box::new(self.open(id)?.0))
    }

    fn relocate(
        &self,
        id: ConversationId,
        project: &str,
        say_so: &mut dyn FnMut() -> Result<(), JournalError>,
    ) -> Result<(), JournalError> {
        let path = self.path(id)?;
        let directory = self.projects.join(project_name(project));
        private::create_dir(&directory)?;
        mark_as_moved_to(&directory)?;
        let moving = Moving::begin(&directory, id)?;
        say_so()?;
        let to = directory.join(file_name(id));
        if to != path {
            rename_lasting(&path, &to)?;
        }
        moving.done();
        self.known().insert(id, directory.into());
        Ok(())
    }

    fn file(&self, id: ConversationId, project: Option<&str>) -> Option<PathBuf> {
        match project {
            Some(project) => Some(self.directory(project).join(file_name(id))),
            None => self.path(id).ok(),
        }
    }

    fn project_around(&self, id: ConversationId, dir: &str) -> Option<String> {
        let path = self.path(id).ok()?;
        let kept_under = path.parent()?.file_name()?.to_str()?;
        let mut around = Path::new(dir).ancestors().filter_map(Path::to_str);
        around.find(|directory| project_name(directory) == kept_under).map(str::to_owned)
    }

    fn cached_load(&self, id: ConversationId) -> Option<Vec<u8>> {
        fs::read(self.load_cache.join(id.to_string())).ok()
    }

    fn keep_load(&self, id: ConversationId, bytes: &[u8]) {
        // A full or read-only disk only costs time.
        let _ = private::create_dir(&self.load_cache)
            .and_then(|()| private::write_atomically(&self.load_cache.join(id.to_string()), bytes));
    }

    fn forget_load(&self, id: ConversationId) {
        let _ = fs::remove_file(self.load_cache.join(id.to_string()));
    }
}

/// Renames a journal into another directory; that it is gone from the first one lasts, too.
fn rename_lasting(from: &Path, to: &Path) -> Result<(), JournalError> {
    private::rename_new(from, to).map_err(JournalError::io("move", from))?;
    to.parent().map_or(Ok(()), private::sync_dir)?;
    from.parent().map_or(Ok(()), private::sync_dir)
}

fn file_name(id: ConversationId) -> String {
    format!("{id}.jsonl")
}

fn id_of(path: &Path) -> Option<ConversationId> {
    let id = path.file_name()?.to_str()?.strip_suffix(".jsonl")?.parse().ok()?;
    (path.file_name()? == file_name(id).as_str()).then_some(id)
}

/// Stands in a directory where journals came from elsewhere: their first lines are not the last word.
const MOVED: &str = ".moved";

fn mark_as_moved_to(directory: &Path) -> Result<(), JournalError> {
    let mark = directory.join(MOVED);
    private::open(OpenOptions::new().write(true).create(true).truncate(true), &mark).map(drop)
}

/// What a journal says of itself, as far as its first line tells.
fn head_of(path: &Path, may_have_moved: bool) -> Result<Option<ConversationInfo>, JournalError> {
    let mut info = File::open(path).ok().and_then(random_access::info);
    if let Some(info) = &mut info {
        let at_home = path.parent().and_then(Path::file_name).and_then(OsStr::to_str)
            == Some(project_name(&info.project).as_str());
        if may_have_moved || !at_home {
            random_access::follow_moves(File::open(path).map_err(JournalError::io("open", path))?, info);
        }
    }
    Ok(info)
}

/// How journals stand. Where there are thousands, several threads look at them at once.
fn standings<'a>(entries: &[(DirEntry, &'a Arc<Path>)]) -> Vec<(JournalState, &'a Arc<Path>)> {
    const MANY: usize = 500;
    // Asked only where it matters: the answer is read from several files.
    let threads = match entries.len() {
        0..=MANY => 1,
        _ => std::thread::available_parallelism().map_or(1, usize::from),
    };
    let share = entries.len().div_ceil(threads).max(MANY);
    let (mine, others) = entries.split_at(share.min(entries.len()));
    let stand = |entries: &[(DirEntry, &'a Arc<Path>)]| {
        let standings = entries.iter().filter_map(|(entry, place)| Some((standing(entry)?, *place)));
        standings.collect::<Vec<_>>()
    };
    std::thread::scope(|scope| {
        let on_another = |share| std::thread::Builder::new().spawn_scoped(scope, move || stand(share)).ok();
        let others: Vec<_> = others.chunks(share).map(|share| (share, on_another(share))).collect();
        let mut all = stand(mine);
        for (share, thread) in others {
            all.extend(match thread {
                // A list that lacks some would be a silent loss.
                Some(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
                // The system has no more threads for us.
                None => stand(share),
            });
        }
        all
    })
}

/// `None` for what is no journal, is gone, or is empty.
fn standing(entry: &DirEntry) -> Option<JournalState> {
    let name = entry.file_name();
    let name = name.to_str()?.strip_suffix(".jsonl")?;
    // An id has one spelling, the one it is looked for by.
    let id: ConversationId = name.parse().ok()?;
    let spelled = name.len() == 36 && !name.bytes().any(|byte| byte.is_ascii_uppercase());
    let metadata = entry.metadata().ok().filter(|metadata| metadata.len() > 0 && spelled)?;
    let metadata = if metadata.is_symlink() { fs::metadata(entry.path()).ok()? } else { metadata };
    state_of(id, &metadata)
}

fn state_of(id: ConversationId, metadata: &fs::Metadata) -> Option<JournalState> {
    let modified = metadata.modified().ok().filter(|_| metadata.is_file() && metadata.len() > 0)?;
    Some(JournalState { id, modified, bytes: metadata.len(), file: metadata.ino() })
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
