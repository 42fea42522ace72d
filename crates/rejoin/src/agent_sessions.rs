//! Lists of the sessions that agents themselves keep.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rejoin_agents::{Definition, FileStamp, SessionStore, StoredSession};
use rejoin_core::{Agent, ConversationId};
use rejoin_index::ConversationFilter;
use serde::{Deserialize, Serialize};

use crate::list::TITLE_WIDTH;
use crate::resolve::known_agent;
use crate::session_cache::{CachedFile, SessionCache};
use crate::{Error, Rejoin, one_line};

/// So long messages are counted, per call, of sessions that are too long to know their number from their ends.
const COUNTING: Duration = Duration::from_millis(100);

/// Which sessions to list.
#[derive(Clone, Debug, Default)]
pub struct SessionFilter {
    /// Where the user stands: sessions of the project it is in are numbered.
    pub here: PathBuf,
    /// Those of other projects, too.
    pub all_projects: bool,
    /// Only of this agent.
    pub agent: Option<Agent>,
    /// Only those used since then.
    pub since: Option<SystemTime>,
    /// At most so many.
    pub limit: Option<usize>,
}

/// Sessions, newest first, as `rejoin sessions --json` prints them.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SessionListing {
    /// The newest ones.
    pub sessions: Vec<ListedSession>,
    /// There are older ones.
    pub more: bool,
    /// Files that were passed over.
    pub not_understood: Vec<PassedOverFile>,
}

/// A session that an agent keeps.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ListedSession {
    /// Whose.
    pub agent: Agent,
    /// Which of this agent's in this project, 1 being the one used last; `None` for another project's.
    pub number: Option<usize>,
    /// The agent's own id.
    pub id: String,
    /// The name it was given, by the user or by the agent.
    pub title: Option<String>,
    /// The first line of what the user typed first.
    pub first_prompt: Option<String>,
    /// The directory it was last used in, where the agent tells.
    pub dir: Option<String>,
    /// The git branch, where the agent tells.
    pub branch: Option<String>,
    /// When it began, in milliseconds since 1970.
    pub started_ms: Option<i64>,
    /// When it was last used, in milliseconds since 1970.
    pub used_ms: i64,
    /// Prompts and answers; `None` if they are not counted yet.
    pub messages: Option<u64>,
    /// How large it is, where it has a file of its own.
    pub bytes: Option<u64>,
    /// The file it lies in.
    pub file: PathBuf,
    /// The conversation of rejoin's that it belongs to.
    pub known: Option<ConversationId>,
}

impl ListedSession {
    /// When it was last used.
    pub fn used(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_millis(u64::try_from(self.used_ms).unwrap_or_default())
    }
}

/// A file of an agent's store that could not be understood.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PassedOverFile {
    /// Whose.
    pub agent: Agent,
    /// Where it is.
    pub path: PathBuf,
    /// What is the matter with it.
    pub why: String,
}

impl Rejoin {
    /// Lists the sessions agents keep, newest first. Nothing is run, and nothing in their stores is touched.
    pub fn agent_sessions(&self, filter: &SessionFilter) -> Result<SessionListing, Error> {
        if let Some(agent) = &filter.agent {
            known_agent(agent)?;
        }
        let mut listing = SessionListing::default();
        let mut stores = Vec::new();
        for agent in rejoin_agents::registry() {
            if filter.agent.as_ref().is_none_or(|wanted| *wanted == agent.agent()) {
                let Some(mut store) = self.stored_sessions(&**agent, &filter.here) else { continue };
                listing.not_understood.append(&mut store.not_understood);
                number(&store.sessions, &**agent, filter, &mut listing.sessions);
                stores.push(store);
            }
        }
        let since = filter.since.map(|time| time.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis());
        let is_recent = |session: &ListedSession| {
            since.is_none_or(|since| u128::try_from(session.used_ms).is_ok_and(|used| used >= since))
        };
        listing.sessions.retain(is_recent);
        listing.sessions.sort_by(|one, other| {
            (Reverse(one.used_ms), &one.agent, &one.id).cmp(&(
                Reverse(other.used_ms),
                &other.agent,
                &other.id,
            ))
        });
        if let Some(limit) = filter.limit {
            listing.more = listing.sessions.len() > limit;
            listing.sessions.truncate(limit);
        }
        let until = Instant::now() + COUNTING;
        for store in &mut stores {
            store.count(&mut listing.sessions, until);
            self.keep_cache(store);
        }
        self.note_known(&mut listing.sessions)?;
        Ok(listing)
    }

    /// Keeps what was read of a store, if that is new.
    pub(crate) fn keep_cache(&self, store: &ReadStore) {
        if store.changed && self.home().is_dir() {
            store.cache.keep();
        }
    }

    /// Reads the store of an agent; `None` if it keeps none that can be read.
    pub(crate) fn stored_sessions(&self, agent: &dyn Definition, here: &Path) -> Option<ReadStore> {
        let place = self.engine.agent_store(agent, &self.setup(&agent.agent()).env)?;
        self.stored_sessions_in(agent, &place, here)
    }

    /// The same of a store in another place.
    pub(crate) fn stored_sessions_in(
        &self,
        agent: &dyn Definition,
        place: &Path,
        here: &Path,
    ) -> Option<ReadStore> {
        let store = agent.session_store(place, here)?;
        let place = place.to_owned();
        let mut cache = SessionCache::open(&self.engine.cache(), &agent.agent());
        let mut known = std::mem::take(&mut cache.files);
        let before = known.len();
        let found = store.files();
        let (mut same, mut just_read) = (0, Vec::new());
        for file in found.files {
            let Some(stamp) = FileStamp::of(&file) else { continue };
            let stamp = (stamp, store.beside(&file).as_deref().and_then(FileStamp::of));
            match known.remove(&file).filter(|cached| cached.stamp == stamp) {
                Some(cached) => {
                    same += 1;
                    cache.files.insert(file, cached);
                }
                None => just_read.push((file, stamp)),
            }
        }
        let changed = same < before || !just_read.is_empty();
        cache.files.extend(read_files(&*store, &just_read));
        let passed_over = |path: &Path, why: &str| PassedOverFile {
            agent: agent.agent(),
            path: path.to_owned(),
            why: why.to_owned(),
        };
        let mut not_understood: Vec<PassedOverFile> =
            found.unread.iter().map(|unread| passed_over(&unread.path, &unread.why)).collect();
        let mut sessions = Vec::new();
        for (file, cached) in &cache.files {
            match &cached.read {
                Ok(read) => sessions.extend(read.iter().map(|session| StoredSession {
                    file: file.clone(),
                    used_ms: session.used_ms.or(Some(cached.stamp.0.modified_ms())),
                    ..session.clone()
                })),
                Err(why) => not_understood.push(passed_over(file, why)),
            }
        }
        not_understood.sort_by(|one, other| one.path.cmp(&other.path));
        // What is no id of this agent's must never become an argument.
        sessions.retain(|session| agent.session_id(&session.id).is_ok());
        let mut sessions = store.join(sessions);
        sessions
            .sort_by(|one, other| (Reverse(one.used_ms), &one.id).cmp(&(Reverse(other.used_ms), &other.id)));
        let just_read = just_read.into_iter().map(|(file, _)| file).collect();
        Some(ReadStore {
            agent: agent.agent(),
            store,
            place,
            sessions,
            not_understood,
            cache,
            changed,
            just_read,
        })
    }

    /// Says which sessions belong to conversations; of several the one used last.
    fn note_known(&self, sessions: &mut [ListedSession]) -> Result<(), Error> {
        if sessions.is_empty() {
            return Ok(());
        }
        let mut known: HashMap<(Agent, String), ConversationId> = HashMap::new();
        for entry in self.index().list(&ConversationFilter::default())?.conversations {
            for session in entry.summary.sessions {
                let key = (session.agent().clone(), session.as_str().to_owned());
                known.entry(key).or_insert(entry.id);
            }
        }
        for session in sessions {
            session.known = known.get(&(session.agent.clone(), session.id.clone())).copied();
        }
        Ok(())
    }
}

/// An agent's store after it was read.
pub(crate) struct ReadStore {
    agent: Agent,
    pub(crate) store: Box<dyn SessionStore>,
    /// Where it is.
    pub(crate) place: PathBuf,
    /// The sessions in it, the one used last first.
    pub(crate) sessions: Vec<StoredSession>,
    not_understood: Vec<PassedOverFile>,
    cache: SessionCache,
    changed: bool,
    just_read: Vec<PathBuf>,
}

impl ReadStore {
    /// Counts the messages of sessions that are not new to us, until there is no time left.
    fn count(&mut self, sessions: &mut [ListedSession], until: Instant) {
        let go_on = || Instant::now() < until;
        let uncounted =
            |session: &&mut ListedSession| session.agent == self.agent && session.messages.is_none();
        for session in sessions.iter_mut().filter(uncounted) {
            if !go_on() {
                return;
            }
            let Some(cached) = self.cache.files.get_mut(&session.file) else { continue };
            let Ok([stored]) = cached.read.as_deref_mut() else { continue };
            // What comes before it in another file is not counted with it.
            if stored.follows.is_some() || self.just_read.contains(&session.file) {
                continue;
            }
            let Some(count) = self.store.count(&session.file, &go_on) else { continue };
            session.messages = Some(count);
            stored.messages = Some(count);
            self.changed = true;
        }
    }
}

/// Reads files on as many threads as there are processors.
fn read_files(
    store: &dyn SessionStore,
    files: &[(PathBuf, (FileStamp, Option<FileStamp>))],
) -> Vec<(PathBuf, CachedFile)> {
    const MOST_THREADS: usize = 8;
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
    let read = |(file, stamp): &(PathBuf, (FileStamp, Option<FileStamp>))| {
        let read = store.read(file).map_err(|error| error.to_string());
        (file.clone(), CachedFile { stamp: *stamp, read })
    };
    let each = files.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let parts: Vec<_> = files
            .chunks(each)
            .map(|part| scope.spawn(move || part.iter().map(read).collect::<Vec<_>>()))
            .collect();
        parts.into_iter().flat_map(|part| part.join().unwrap_or_default()).collect()
    })
}

/// Adds sessions to a list, those of this project with their numbers.
fn number(
    sessions: &[StoredSession],
    agent: &dyn Definition,
    filter: &SessionFilter,
    listed: &mut Vec<ListedSession>,
) {
    let mut place = ProjectPlace::around(&filter.here);
    let mut last = 0;
    for session in sessions.iter().cloned() {
        let here = place.holds(&session);
        if !here && !filter.all_projects {
            continue;
        }
        last += usize::from(here);
        let line = |text: String| one_line(&text, TITLE_WIDTH);
        listed.push(ListedSession {
            agent: agent.agent(),
            number: here.then_some(last),
            id: session.id,
            title: session.title.map(line),
            first_prompt: session.first_prompt.map(line),
            dir: session.dir,
            branch: session.branch,
            started_ms: session.started_ms,
            used_ms: session.used_ms.unwrap_or_default(),
            messages: session.messages,
            bytes: session.bytes,
            file: session.file,
            known: None,
        });
    }
}

/// The project somebody stands in, to tell which sessions are of it.
pub(crate) struct ProjectPlace {
    project: PathBuf,
    known: HashMap<String, bool>,
}

impl ProjectPlace {
    pub(crate) fn around(here: &Path) -> Self {
        Self { project: rejoin_engine::project_of(here), known: HashMap::new() }
    }

    /// Whether a session was used in it.
    pub(crate) fn holds(&mut self, session: &StoredSession) -> bool {
        let Self { project, known } = self;
        let Some(dir) = &session.dir else { return false };
        *known.entry(dir.clone()).or_insert_with(|| {
            // It may be gone, or a link.
            let path = Path::new(dir);
            path.canonicalize().as_deref().unwrap_or(path).starts_with(project)
        })
    }
}
