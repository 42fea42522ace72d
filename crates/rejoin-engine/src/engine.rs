use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rejoin_agents::Definition;
use rejoin_journal::{Home, Leases, Store};

use crate::before::probe::{find_command, probe};
use crate::before::room::Room;
use crate::during::outbox::JournalWriters;
use crate::{AgentSetup, Helper, Installation, TurnError};

/// Everything turns have in common: where data is kept and who supervises. A copy is the same engine.
#[derive(Clone)]
pub struct Engine {
    pub(crate) home: Home,
    pub(crate) store: Arc<dyn Store>,
    leases: Arc<dyn Leases>,
    pub(crate) helper: Helper,
    /// Write the journals of all turns.
    pub(crate) writers: JournalWriters,
    /// For so many turns at once.
    pub(crate) room: Room,
    /// Its store holds drafts of this home.
    pub(crate) drafts: bool,
}

impl Engine {
    /// An engine on a home directory, which need not be there as long as nothing is to be written.
    pub fn open(home: PathBuf, helper: Helper) -> Result<Self, TurnError> {
        let home = Home::look(home)?;
        let (store, leases) = (Arc::new(home.store()), Arc::new(home.locks()));
        Ok(Self::on(home, store, leases, helper))
    }

    /// An engine whose journals are kept in a store and whose rights to write are leases that it is given; all else
    /// is in the home directory.
    ///
    /// Leases need not be files. One that has a [descriptor](rejoin_journal::Lease::descriptor) is handed to the
    /// supervisor of an agent, which holds it until all that the agent started is gone, also if this process is
    /// killed. Any other is held by this process alone: should it be taken away or run out, the store refuses what is
    /// written with its token, and whoever gets it next ends what carries its marks.
    pub fn on(home: Home, store: Arc<dyn Store>, leases: Arc<dyn Leases>, helper: Helper) -> Self {
        Self {
            home,
            store,
            leases,
            helper,
            writers: JournalWriters::default(),
            room: Room::default(),
            drafts: false,
        }
    }

    /// The same engine on a store with journals as they may come to stand, to look at turns on them: what is not
    /// noted to come from elsewhere is taken for begun here.
    #[must_use]
    pub fn on_drafts(&self, store: Arc<dyn Store>) -> Self {
        Self { store, drafts: true, ..self.clone() }
    }

    /// Makes the home directory, if it is not there: needed before a turn is run.
    pub fn make_home(&self) -> Result<(), TurnError> {
        Ok(self.home.make()?)
    }

    /// Where all data is kept.
    pub fn home(&self) -> &Path {
        self.home.root()
    }

    /// What tells this home from any other.
    pub fn home_id(&self) -> &str {
        self.home.id()
    }

    /// The journals.
    pub fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// Where things are kept that can be deleted at any time.
    pub fn cache(&self) -> PathBuf {
        self.home.cache()
    }

    /// Where the right to be the only one at something is got.
    pub fn leases(&self) -> &dyn Leases {
        &*self.leases
    }

    /// Finds an agent and learns what it can do. `None` if it is not installed.
    pub fn find_agent(&self, agent: &dyn Definition, setup: &AgentSetup) -> Option<Installation> {
        if let Some(subcommand) = agent.embedded() {
            let Helper::Executable(path) = &self.helper else { return None };
            return Some(Installation {
                path: path.clone(),
                first_args: vec![subcommand.into()],
                capabilities: agent.learn(&[]),
            });
        }
        let command = setup.command.as_deref().unwrap_or(agent.command());
        let search = setup.env.get("PATH").map(OsString::from).or_else(|| std::env::var_os("PATH"));
        let path = find_command(command, search.as_deref())?;
        let capabilities = probe(agent, &path, &self.home.cache(), &self.helper);
        Some(Installation { path, first_args: Vec::new(), capabilities })
    }

    /// Where an agent keeps its sessions.
    pub fn agent_store(&self, agent: &dyn Definition, env: &BTreeMap<String, String>) -> Option<PathBuf> {
        agent.store(&|name| self.variable(env, name))
    }

    /// A directory of rejoin's own for an agent's files; it need not exist.
    pub(crate) fn own_dir(&self, agent: &dyn Definition) -> PathBuf {
        self.home.root().join("agents").join(agent.agent().as_str())
    }

    /// A variable of the environment an agent will run in; `env` is what is added to ours.
    pub(crate) fn variable(&self, env: &BTreeMap<String, String>, name: &str) -> Option<OsString> {
        match (env.get(name), name) {
            (Some(value), _) => Some(value.into()),
            (None, "REJOIN_HOME") => Some(self.home.root().into()),
            (None, name) => std::env::var_os(name),
        }
    }
}
