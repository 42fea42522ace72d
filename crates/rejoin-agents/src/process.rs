use std::ffi::OsString;
use std::path::{Path, PathBuf};

use rejoin_core::SessionId;

use crate::{Capabilities, Driver, TurnRequest};

/// An agent that is to be started.
///
/// Its fields are what a process keeps for as long as it lives; what may differ from turn to turn is in
/// [`TurnRequest`].
pub struct ProcessRequest<'a> {
    /// The turn it is started for: an agent that serves one turn is told some of it by argument.
    pub turn: &'a TurnRequest<'a>,
    /// The id a new session shall have, where we choose it.
    pub new_session: Option<&'a SessionId>,
    /// What the installation can do.
    pub capabilities: &'a Capabilities,
    /// Replaces the agent's system prompt (only if it
    /// [takes instructions](crate::Definition::takes_instructions)).
    pub system_prompt: Option<&'a str>,
    /// Added to the agent's system prompt (likewise).
    pub append_system_prompt: Option<&'a str>,
    /// The address of the model, for agents that are one.
    pub endpoint: Option<&'a Endpoint>,
    /// The user's own arguments for the agent.
    pub extra_args: &'a [String],
    /// Nothing may be stored.
    pub ephemeral: bool,
    /// The directory it works in.
    pub dir: &'a Path,
    /// Where the agent keeps its sessions.
    pub store: Option<&'a Path>,
    /// The environment the agent will run in.
    pub env: &'a dyn Fn(&str) -> Option<OsString>,
    /// A private directory of rejoin's own for this agent's files; it need not exist yet.
    pub own_dir: &'a Path,
}

/// Where a model answers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Endpoint {
    /// The beginning of its addresses, up to and including the version.
    pub base_url: String,
    /// The environment variable that holds the key; the key itself is never seen by rejoin.
    pub key_env: Option<String>,
}

/// How an agent is started.
pub struct Process {
    /// Arguments, the command itself left out.
    pub args: Vec<OsString>,
    /// Environment additions.
    pub env: Vec<(String, String)>,
    /// What the user should know beforehand.
    pub warnings: Vec<String>,
    /// Files of rejoin's own that must be there first, below [`ProcessRequest::own_dir`].
    pub files: Vec<(PathBuf, String)>,
    /// Copies of the attachments must be there for as long as it runs: the agent reads them itself.
    pub copies: bool,
    /// A directory below [`ProcessRequest::own_dir`] that is new, and that must be gone after the run with
    /// all that is in it, however the run ends.
    pub scratch: Option<PathBuf>,
    /// How to find the session of this run, should the agent not name it.
    pub lookup: Option<Lookup>,
    /// Speaks with it.
    pub driver: Box<dyn Driver>,
}

impl Process {
    /// One that needs nothing but arguments.
    pub fn new(args: Vec<OsString>, driver: Box<dyn Driver>) -> Self {
        Self {
            args,
            env: Vec::new(),
            warnings: Vec::new(),
            files: Vec::new(),
            copies: false,
            scratch: None,
            lookup: None,
            driver,
        }
    }
}

/// Finds a session in what a command printed.
pub type FindSession = Box<dyn Fn(&str) -> Option<SessionId> + Send>;

/// How to find out which session a run made.
pub enum Lookup {
    /// By a second command.
    Ask {
        /// Its arguments; environment and directory are those of the run.
        args: Vec<OsString>,
        /// Finds the session in what it prints.
        find: FindSession,
    },
    /// In the agent's store.
    Look(Box<dyn Fn() -> Option<SessionId> + Send>),
}
