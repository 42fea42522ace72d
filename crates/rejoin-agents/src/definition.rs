use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use rejoin_core::{Agent, InvalidSessionId, SessionId, Usage, Witness};
use serde::{Deserialize, Serialize};

use crate::session_id::lower_case_uuid;
use crate::words::Names;
use crate::{
    Damage, Found, Look, Media, Process, ProcessRequest, SessionStore, SessionUser, Wanted, damage, nesting,
};

/// Everything rejoin knows about one agent.
///
/// A value, not a piece of the program: what it returns borrows from itself or is owned, so that one can
/// also be made from configuration. Whoever runs agents holds them as `Arc<dyn Definition>`, in
/// [`Agents`](crate::Agents).
pub trait Definition: Send + Sync {
    /// Its name.
    fn agent(&self) -> Agent;

    /// What is said of it in words. An agent that is made otherwise gives its own answers to what reads this:
    /// [`title`](Definition::title) and the like.
    fn about(&self) -> About<'_> {
        About::default()
    }

    /// Its name for people: "Claude Code".
    fn title(&self) -> &str {
        self.about().title
    }

    /// Who gets what is said to it: its model's vendor. By default that is not known, and it is named itself.
    fn vendor(&self) -> &str {
        Some(self.about().vendor).filter(|vendor| !vendor.is_empty()).unwrap_or(self.title())
    }

    /// The command it is installed as.
    fn command(&self) -> &str {
        self.about().command
    }

    /// The hidden subcommand of rejoin's own executable, for an agent that is embedded in it.
    fn embedded(&self) -> Option<&str> {
        None
    }

    /// How to install it, in one line.
    fn install_hint(&self) -> &str {
        self.about().install_hint
    }

    /// Argument lists that make the program tell about itself: [`VERSION_AND_HELP`](crate::VERSION_AND_HELP)
    /// by default, none for what is embedded.
    fn probes(&self) -> Vec<Vec<&str>> {
        let asked = if self.embedded().is_some() { &[] } else { crate::VERSION_AND_HELP };
        asked.iter().map(|args| args.to_vec()).collect()
    }

    /// What the installation can do, from the answers to [`Definition::probes`], in that order.
    /// An unanswered probe means: assume nothing.
    fn learn(&self, answers: &[ProbeAnswer]) -> Capabilities;

    /// Where it keeps its sessions, given the environment it will run in.
    fn store(&self, env: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf>;

    /// Variables of an outer agent that must not reach this one. By default all that the known agents leave.
    fn foreign_env(&self) -> Vec<&str> {
        nesting::MARKERS.split(' ').collect()
    }

    /// Accepts only ids this agent could have made: anything else might start a new session. By default they
    /// are UUIDs.
    fn session_id(&self, text: &str) -> Result<SessionId, InvalidSessionId> {
        lower_case_uuid(self.agent(), text)
    }

    /// The id of a new session, where this installation lets the caller choose it. `fresh` is a random UUID.
    fn choose_session(&self, capabilities: &Capabilities, fresh: uuid::Uuid) -> Option<SessionId> {
        self.session_id(&fresh.to_string()).ok().filter(|_| capabilities.choose_id)
    }

    /// Whether standing instructions have a flag; if not, as by default, they are put into the prompt.
    fn takes_instructions(&self, _capabilities: &Capabilities) -> bool {
        false
    }

    /// What starts the agent: arguments, environment, files, and the driver that will read it; or why it
    /// cannot be done. What a turn says to it is [`Driver::begin_turn`](crate::Driver::begin_turn)'s.
    fn process(&self, request: &ProcessRequest<'_>) -> Result<Process, Refusal>;

    /// Looks at a stored session once: where it is, how it stands, and what else is wanted of it. By default
    /// by the four below, of which each opens it anew; an agent whose store is costly to read does it at one
    /// go.
    fn look(&self, store: &Path, dir: &Path, session: &SessionId, wanted: Wanted) -> Look {
        let found = self.find_session(store, dir, session);
        let Found::At(path) = &found else { return Look::at_nothing(found) };
        Look {
            witness: self.witness(path, session),
            damage: wanted.damage.then(|| self.damage(path, session)).flatten(),
            total: wanted.total.then(|| self.stored_total(path)).flatten(),
            found,
        }
    }

    /// Looks for a stored session.
    fn find_session(&self, store: &Path, dir: &Path, session: &SessionId) -> Found;

    /// How a session found by [`Definition::find_session`] looks now: a change means that somebody
    /// used it. By default the file's size and time.
    fn witness(&self, found: &Path, _session: &SessionId) -> Option<Witness> {
        let meta = found.metadata().ok()?;
        let modified = meta.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        let mtime = i64::try_from(modified.as_nanos()).ok()?;
        Some(Witness { path: found.to_string_lossy().into_owned(), size: meta.len(), mtime })
    }

    /// What is wrong with a session found by [`Definition::find_session`], if it is no longer what the
    /// agent wrote: resumed, it would have forgotten something, and not say so. By default it is a file
    /// of JSON lines. What cannot be looked at has no damage that is known.
    fn damage(&self, found: &Path, _session: &SessionId) -> Option<Damage> {
        damage::of_lines(found).ok().flatten()
    }

    /// The agent's running total as stored, for agents that count the whole session.
    fn stored_total(&self, _session_file: &Path) -> Option<Usage> {
        None
    }

    /// The sessions in its store, for lists: `here` is where the user stands, whose settings may name further
    /// places. By default none are listed.
    fn session_store(&self, _store: &Path, _here: &Path) -> Option<Box<dyn SessionStore>> {
        None
    }

    /// The processes that have a session open, as far as the store shows: some may have ended since. By default it
    /// does not.
    fn session_users(&self, _store: &Path, _session: &SessionId) -> Vec<SessionUser> {
        Vec::new()
    }

    /// Whether the session `named` holds all that `asked` held, as the store shows: for agents that may
    /// answer a resume with another id. Asked as soon as the other one is named.
    fn continues(&self, _store: &Path, _asked: &SessionId, _named: &SessionId) -> bool {
        false
    }

    /// Whether its store is set up, for agents that set it up at their first start and break if two do so at
    /// once: their first starts are taken one after another, until a session is named. `None` by default.
    fn is_set_up(&self, _store: &Path) -> Option<bool> {
        None
    }

    /// Clears away what a run left in the agent's store that endangers the session it belongs to.
    /// Called before a session is resumed and after every run; nothing by default.
    fn tidy(&self, _store: &Path, _dir: &Path, _session: &SessionId) {}

    /// Whether a replayed history goes to it as messages of their own ([`Composed::history`](rejoin_core::compose::Composed::history)) and
    /// not as quoted text in the prompt.
    fn takes_messages(&self) -> bool {
        false
    }

    /// Whether files of this kind can go along with a prompt.
    fn takes(&self, media: Media) -> bool {
        self.about().takes.contains(&media)
    }

    /// The variable that makes it keep its sessions in a directory of the user's choice, and what to
    /// set it to. It must move sessions alone: a login that stays behind is a login that is lost.
    fn session_dir(&self, _capabilities: &Capabilities, _dir: &str) -> Result<(String, String), Refusal> {
        Err(Refusal::Unsupported(format!(
            "{0} cannot keep its sessions in another directory without its login and settings: leave --session-dir out, or \
             move all of it by a variable of its own in env of [agents.{0}]",
            self.agent()
        )))
    }

    /// The version rejoin's tests run against; none for what is part of rejoin.
    fn tested_version(&self) -> Option<&str> {
        Some(self.about().tested_version).filter(|version| !version.is_empty())
    }

    /// Flags the file counts on, each with what is lost without it.
    fn wanted_flags(&self) -> Vec<(&str, &str)> {
        self.about().wanted_flags.to_vec()
    }

    /// Where its login would be, as far as that can be seen from outside.
    fn login(&self, _env: &dyn Fn(&str) -> Option<OsString>) -> Option<Login> {
        None
    }

    /// What is known to go wrong with an installation that is set up like this one.
    fn hazards(&self, _env: &dyn Fn(&str) -> Option<OsString>, _store: Option<&Path>) -> Vec<Hazard> {
        Vec::new()
    }
}

/// What is said of an agent in words.
#[derive(Clone, Copy, Debug, Default)]
pub struct About<'a> {
    /// [`Definition::title`].
    pub title: &'a str,
    /// [`Definition::vendor`]; empty if that is not known.
    pub vendor: &'a str,
    /// [`Definition::command`].
    pub command: &'a str,
    /// [`Definition::install_hint`].
    pub install_hint: &'a str,
    /// [`Definition::tested_version`]; empty if there is none.
    pub tested_version: &'a str,
    /// [`Definition::wanted_flags`].
    pub wanted_flags: &'a [(&'a str, &'a str)],
    /// The kinds of files that it [takes](Definition::takes).
    pub takes: &'a [Media],
}

/// Where a login would be. Only its presence is looked at, never what it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Login {
    /// Variables that hold one.
    pub variables: Vec<String>,
    /// Files that hold one, unless they are empty.
    pub files: Vec<PathBuf>,
    /// How to log in.
    pub how: String,
}

impl Login {
    /// A login in one of these variables or files.
    pub(crate) fn new(variables: Names, files: Vec<PathBuf>, how: &str) -> Self {
        let variables = variables.split(' ').map(str::to_owned).collect();
        Self { variables, files, how: how.to_owned() }
    }
}

/// Something that goes wrong with some installations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hazard {
    /// What happens.
    pub what: String,
    /// What to do about it.
    pub next: String,
}

/// What one probe printed.
#[derive(Clone, Debug, Default)]
pub struct ProbeAnswer {
    /// It ended by itself within the time limit.
    pub answered: bool,
    /// Standard output, bounded.
    pub stdout: String,
    /// Standard error, bounded.
    pub stderr: String,
}

/// What an installation can do.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[allow(clippy::struct_excessive_bools, reason = "each is a question of its own")]
pub struct Capabilities {
    /// The product it says it is; empty if it did not say.
    pub product: String,
    /// Its version.
    pub version: Option<String>,
    /// Resume a session by id.
    pub resume: bool,
    /// Copy a session under a new id.
    pub fork: bool,
    /// Run without storing anything.
    pub ephemeral: bool,
    /// Let the caller choose the id of a new session.
    pub choose_id: bool,
    /// Ask the user in the middle of a turn.
    pub ask: bool,
    /// Flags seen in its help that its file cares about.
    #[serde(default)]
    pub flags: BTreeSet<String>,
}

impl Capabilities {
    /// By the flags that let it resume, copy a session, store nothing, and be told an id.
    pub(crate) fn by_flags(flags: BTreeSet<String>, [resume, fork, ephemeral, choose_id]: [&str; 4]) -> Self {
        Self {
            resume: flags.contains(resume),
            fork: flags.contains(fork),
            ephemeral: flags.contains(ephemeral),
            choose_id: flags.contains(choose_id),
            flags,
            ..Self::default()
        }
    }

    /// Whether its help names a flag.
    pub fn has(&self, flag: &str) -> bool {
        self.flags.contains(flag)
    }
}

/// Why an agent cannot be started, or a turn not be begun, as asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A permission level the agent cannot enforce, or a flag that would widen it.
    #[error("{0}")]
    Permissions(String),
    /// Something else this installation cannot do.
    #[error("{0}")]
    Unsupported(String),
}
