//! The cache and the journals behind it. Whatever happens to the cache, the answers are the same.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use rejoin_core::ConversationId;
use rejoin_journal::{JournalError, JournalState, Store};

use crate::bring_up_to_date::{RowBefore, Stale, update};
use crate::database::{Database, JournalRow};
use crate::facts::Facts;
use crate::failure::Failure;
use crate::last_use::{last_use, time_of};

/// From so many journals on, all rows are read at once instead of one by one.
const MANY: usize = 200;

/// Lists, searches and counts conversations.
pub struct Index<'a> {
    pub(crate) store: &'a dyn Store,
    directory: PathBuf,
    pub(crate) database: Option<Database>,
    /// Nothing is written.
    untouched: bool,
    warnings: Vec<String>,
    unreadable: Option<JournalError>,
    progress: Option<Box<dyn FnMut(Progress) + 'a>>,
}

/// How far the cache has been brought up to date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Bytes of journals that were read.
    pub done: u64,
    /// Bytes that are to be read.
    pub total: u64,
}

/// A journal and what the cache knows of it: its key if that is all there is to know.
pub(crate) struct Compared {
    pub(crate) standing: JournalState,
    pub(crate) known: Option<JournalRow>,
}

impl<'a> Index<'a> {
    /// Opens the cache in a directory. That never fails: without a cache the journals are read.
    pub fn open(store: &'a dyn Store, directory: &Path) -> Self {
        let mut index = Self::open_untouched(store, directory);
        index.untouched = false;
        if index.database.is_some() {
            return index;
        }
        match Database::open(directory) {
            Ok(database) => index.database = Some(database),
            Err(failure) => index.note(failure),
        }
        index
    }

    /// Opens the cache only to look things up in it: it is neither made nor brought up to date.
    pub fn open_untouched(store: &'a dyn Store, directory: &Path) -> Self {
        Self {
            store,
            directory: directory.to_owned(),
            database: Database::open_existing(directory),
            untouched: true,
            warnings: Vec::new(),
            unreadable: None,
            progress: None,
        }
    }

    /// Reports progress while many journals are being read.
    #[must_use]
    pub fn on_progress(mut self, report: impl FnMut(Progress) + 'a) -> Self {
        self.progress = Some(Box::new(report));
        self
    }

    /// What went wrong on the way, none of which made an answer wrong.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Why the first journal that could not be read was left out, for those who cannot go on without.
    pub fn take_error(&mut self) -> Option<JournalError> {
        self.unreadable.take()
    }

    /// Asks the cache; `None` if it cannot answer. One that is ruined is replaced by an empty one.
    pub(crate) fn ask<T>(&mut self, question: impl FnOnce(&Database) -> Result<T, Failure>) -> Option<T> {
        match question(self.database.as_ref()?) {
            Ok(answer) => return Some(answer),
            Err(Failure::Ruined) => self.replace(),
            Err(failure) => self.note(failure),
        }
        None
    }

    fn replace(&mut self) {
        self.database = None;
        if self.untouched {
            return;
        }
        match Database::replace(&self.directory) {
            Ok(database) => self.database = Some(database),
            Err(failure) => self.note(failure),
        }
    }

    /// Says why there is no cache. That another process is at work is nothing to tell.
    fn note(&mut self, failure: Failure) {
        self.database = None;
        if let Failure::Unusable(why) = failure {
            self.warnings.push(format!("the index cannot be used ({why}); the journals are read instead"));
        }
    }

    /// Brings the cache up to date with some journals, with their words if `wording`, and says of
    /// each whether the cache knows all of it now. What it says holds until the next call: changes
    /// other processes make meanwhile are not seen.
    pub(crate) fn refresh(&mut self, standings: &[JournalState], wording: bool) -> Vec<Compared> {
        let compared = self.compare(standings, wording);
        let stale: Vec<&Compared> = compared.iter().filter(|compared| compared.known.is_none()).collect();
        if stale.is_empty() || self.database.is_none() || self.untouched {
            return compared;
        }
        let stale: Vec<JournalState> = stale.iter().map(|compared| compared.standing).collect();
        self.read(stale, wording);
        self.compare(standings, wording)
    }

    fn compare(&mut self, standings: &[JournalState], wording: bool) -> Vec<Compared> {
        self.ask(Database::hold);
        let mut known = self.known(standings);
        let holds = |known: &JournalRow, standing: &JournalState| {
            known.standing == *standing && (known.worded || !wording)
        };
        let compare = |standing: &JournalState| {
            let known = known.remove(&standing.id).filter(|known| holds(known, standing));
            Compared { standing: *standing, known }
        };
        standings.iter().map(compare).collect()
    }

    pub(crate) fn known(&mut self, standings: &[JournalState]) -> HashMap<ConversationId, JournalRow> {
        let known = if standings.len() > MANY {
            self.ask(Database::known)
        } else {
            self.ask(|database| database.known_of(standings))
        };
        known.unwrap_or_default().into_iter().map(|known| (known.standing.id, known)).collect()
    }

    /// Reads journals, oldest first: the newest text shall have the highest numbers.
    fn read(&mut self, mut stale: Vec<JournalState>, wording: bool) {
        stale.sort_by_cached_key(|standing| time_of(last_use(self.store, standing.id), standing));
        let mut known = self.known(&stale);
        let total = stale.iter().map(|standing| standing.bytes).sum();
        let journals = stale.iter().map(|standing| Stale {
            standing: *standing,
            before: known.remove(&standing.id).and_then(|known| self.before(known, standing)),
        });
        let journals: Vec<Stale> = journals.collect();
        self.ask(Database::release);
        let Some(database) = &self.database else { return };
        let mut done = 0;
        let mut report = |bytes: u64| {
            done += bytes;
            if let Some(report) = &mut self.progress {
                report(Progress { done, total });
            }
        };
        match update(database, self.store, journals, wording, &mut report) {
            // While another process writes, what it does not have yet is read from the journals.
            Ok(()) | Err(Failure::Busy) => {}
            Err(Failure::Ruined) => self.replace(),
            Err(failure) => self.note(failure),
        }
    }

    /// What is known of a journal that only grew since; nothing if it is another one.
    fn before(&mut self, known: JournalRow, standing: &JournalState) -> Option<RowBefore> {
        let was = known.standing;
        let same = was == *standing;
        if !same && (was.file != standing.file || was.bytes >= standing.bytes) {
            return None;
        }
        let key = known.key;
        // Another file can have got the number of the old one, or the old one was written anew.
        let last = self.ask(|database| database.last(key))?;
        if !same && !last.is_some_and(|last| last.holds(self.store, standing.id)) {
            return None;
        }
        let facts = if same { Some(self.ask(|database| database.facts(key))?) } else { None };
        let worded = self.ask(|database| database.worded(key))?;
        let documents = self.ask(|database| database.documents(key))?;
        let documents = documents.iter().map(|document| (document.key, document.first, document.last));
        Some(RowBefore { known, facts, worded, documents: documents.collect() })
    }

    /// The facts of a journal, from the cache or from itself. `None` if it is gone or cannot be
    /// read, which is told.
    pub(crate) fn facts(&mut self, compared: &Compared) -> Option<Facts> {
        let cached = compared.known.as_ref().and_then(|known| self.ask(|database| database.facts(known.key)));
        cached.or_else(|| self.fold(&compared.standing))
    }

    pub(crate) fn fold(&mut self, standing: &JournalState) -> Option<Facts> {
        match Facts::read(self.store, standing.id) {
            Ok(facts) => Some(facts),
            Err(JournalError::NotFound { .. }) => None,
            Err(error) => {
                let id = standing.id.short();
                self.warnings.push(format!("conversation {id} cannot be read: {error}"));
                self.unreadable.get_or_insert(error);
                None
            }
        }
    }

    /// Forgets journals that are gone. `all` are those there are.
    pub(crate) fn forget_all_but(&mut self, all: &[JournalState]) {
        // Only if their number tells that there are some.
        if self.untouched || self.ask(Database::count).is_none_or(|count| count <= all.len()) {
            return;
        }
        let there: HashSet<ConversationId> = all.iter().map(|standing| standing.id).collect();
        self.ask(|database| {
            database.release()?;
            database.begin()?;
            let gone = |known: &&JournalRow| !there.contains(&known.standing.id);
            let forget = |known: Vec<JournalRow>| {
                known.iter().filter(gone).try_for_each(|known| database.forget(known.key))
            };
            let forgotten = database.known().and_then(forget).and_then(|()| database.commit());
            forgotten.inspect_err(|_| {
                let _ = database.rollback();
            })
        });
    }
}
