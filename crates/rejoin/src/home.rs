use std::path::{Path, PathBuf};

use rejoin_agents::Endpoint;
use rejoin_engine::{
    AgentSetup, CancelWatch, CommandOutcome, Engine, Helper, Limits, ShellCommand, TurnError,
};
use rejoin_index::{Index, Progress};
use rejoin_journal::{Lease, load};

use crate::config::Resume;
use crate::{
    Agent, Config, ConversationId, Cursor, Error, TurnBuilder, TurnHandle, TurnRequest, parse_duration,
};

/// rejoin's data and configuration, opened.
pub struct Rejoin {
    pub(crate) engine: Engine,
    pub(crate) config: Config,
    progress: Option<Report>,
}

/// Is told how far the index has been brought up to date.
type Report = Box<dyn Fn(Progress) + Send + Sync>;

impl Rejoin {
    /// Opens `$REJOIN_HOME` (else `rejoin/` in the XDG data directory) and the configuration.
    pub fn open() -> Result<Self, Error> {
        Self::open_supervised(find_helper())
    }

    /// The same, with a supervisor of your choice.
    pub fn open_supervised(helper: Helper) -> Result<Self, Error> {
        Self::open_with(default_home()?, Config::load()?, helper)
    }

    /// Opens a home of your choice.
    pub fn open_with(home: impl Into<PathBuf>, config: Config, helper: Helper) -> Result<Self, Error> {
        Ok(Self { engine: Engine::open(home.into(), helper)?, config, progress: None })
    }

    /// The same data with another configuration: turns that run are not touched by it.
    pub fn with_config(&self, config: Config) -> Self {
        Self { engine: self.engine.clone(), config, progress: None }
    }

    /// Watches the index being brought up to date, which can take seconds when it was deleted.
    pub fn on_index_progress(&mut self, report: impl Fn(Progress) + Send + Sync + 'static) {
        self.progress = Some(Box::new(report));
    }

    /// The index: a cache, opened anew by every question, since others write, too.
    pub(crate) fn index(&self) -> Index<'_> {
        if !self.home().is_dir() {
            return self.index_untouched();
        }
        let index = Index::open(self.engine.store(), &self.engine.cache());
        match &self.progress {
            Some(report) => index.on_progress(report),
            None => index,
        }
    }

    /// The configuration it was opened with.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Where all data is kept: `$REJOIN_HOME`, or what was chosen instead.
    pub fn home(&self) -> &Path {
        self.engine.home()
    }

    /// Makes the home directory, if it is not there: needed before anything is kept in it.
    pub fn make_home(&self) -> Result<(), Error> {
        Ok(self.engine.make_home()?)
    }

    /// The store, for what is kept beside conversations: runs of flows.
    pub fn store(&self) -> &dyn rejoin_journal::Store {
        self.engine.store()
    }

    /// Where the right to be the only one at something is got, for what is kept beside conversations.
    pub fn leases(&self) -> &dyn rejoin_journal::Leases {
        self.engine.leases()
    }

    /// Begins to describe a turn in a project. The directory need not be its root.
    pub fn project(&self, dir: impl AsRef<Path>) -> TurnBuilder<'_> {
        TurnBuilder::new(self, TurnRequest::new(dir.as_ref(), ""))
    }

    /// A turn that was described elsewhere.
    pub fn turn(&self, request: TurnRequest) -> TurnBuilder<'_> {
        TurnBuilder::new(self, request)
    }

    /// Keeps the files of a request in the store, as they are now: carried out later, here or by another process, it
    /// sends them as they were.
    pub fn keep_attachments(&self, request: &mut TurnRequest) -> Result<(), Error> {
        let kept = self.engine.keep_attachments(&request.attach)?;
        request.attach.clear();
        request.attach_kept.extend(kept);
        Ok(())
    }

    /// The conversation of exactly this name in the project a directory is in.
    pub fn named(&self, dir: &Path, name: &str) -> Result<Option<ConversationId>, Error> {
        let project = rejoin_engine::project_of(dir).to_string_lossy().into_owned();
        Self::by_name(&mut self.index(), &project, name)
    }

    /// Where the journal of a conversation ends now: what comes is watched from there.
    pub fn end_of(&self, conversation: ConversationId) -> Result<Cursor, Error> {
        let store = self.engine.store();
        Ok(store.cursor(conversation, load(store, conversation)?.end)?)
    }

    /// Begins a turn that was described elsewhere.
    pub fn start(&self, request: TurnRequest) -> Result<TurnHandle, Error> {
        self.turn(request).start()
    }

    /// The index for looking something up without a trace.
    pub(crate) fn index_untouched(&self) -> Index<'_> {
        Index::open_untouched(self.engine.store(), &self.engine.cache())
    }

    /// Runs a shell command below the supervisor: it ends when we do. `lock` stays locked until its last process is
    /// gone, also where we are killed.
    pub fn run_command(
        &self,
        command: &ShellCommand,
        cancel: &CancelWatch,
        lock: Option<&Lease>,
    ) -> Result<CommandOutcome, Error> {
        Ok(self.engine.run_command(command, cancel, lock)?)
    }

    pub(crate) fn setup(&self, agent: &Agent) -> AgentSetup {
        let config = self.config.agents.get(agent.as_str()).cloned().unwrap_or_default();
        let usual = AgentSetup::default();
        AgentSetup {
            command: config.command,
            args: config.args,
            env: config.env,
            model: config.model,
            permissions: config.permissions,
            replay_budget: config.replay_budget.unwrap_or(usual.replay_budget),
            endpoint: config.base_url.map(|base_url| Endpoint { base_url, key_env: config.key_env }),
        }
    }

    /// How long things may take, with what the configuration says where the request does not.
    pub(crate) fn limits(&self, limits: &Limits) -> Limits {
        let configured = || self.config.limit_after.as_deref().and_then(|text| parse_duration(text).ok());
        Limits { limit_after: limits.limit_after.or_else(configured), ..limits.clone() }
    }

    pub(crate) fn may_resume(&self) -> bool {
        self.config.resume == Resume::Auto
    }
}

pub(crate) fn default_home() -> Result<PathBuf, Error> {
    use etcetera::BaseStrategy;
    match std::env::var_os("REJOIN_HOME") {
        Some(home) if !home.is_empty() => Ok(PathBuf::from(home)),
        _ => match etcetera::choose_base_strategy() {
            Ok(strategy) => Ok(strategy.data_dir().join("rejoin")),
            Err(_) => Err(TurnError::Usage(
                "no home directory is known; set REJOIN_HOME to where rejoin may keep its data".into(),
            )
            .into()),
        },
    }
}

/// The executable that supervises agents, for programs that are not it themselves.
fn find_helper() -> Helper {
    let name = format!("rejoin{}", std::env::consts::EXE_SUFFIX);
    let named = std::env::var_os("REJOIN_HELPER").filter(|path| !path.is_empty()).map(PathBuf::from);
    let beside = std::env::current_exe().ok().into_iter().flat_map(|exe| {
        let dirs: Vec<PathBuf> = exe.ancestors().skip(1).take(2).map(Path::to_path_buf).collect();
        dirs
    });
    let on_path = std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect::<Vec<_>>());
    let places = beside.chain(on_path.into_iter().flatten()).map(|dir| dir.join(&name));
    match named.into_iter().chain(places).find(|path| path.is_file()) {
        Some(path) => Helper::Executable(path),
        None => Helper::Thread,
    }
}
