//! A turn, described step by step.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rejoin_agents::{Answer, Definition};
use rejoin_core::plan::Wish;
use rejoin_core::{
    Agent, Conversation, ConversationId, Event, Message, Permissions, Scope, Turn, TurnId, TurnState,
};
use rejoin_engine::{
    AgentSetup, Base, CancelWatch, Canceller, DryRun, Limits, OpenQuestion, Order, Target, TurnError,
    TurnOutcome, Watcher, Why, read_attachments,
};
use rejoin_journal::{load, messages};

use crate::config::suggestion;
use crate::find_message::find_message;
use crate::{Error, ProjectConfig, Rejoin, check_name};

/// Describes one turn; [`run`](TurnBuilder::run) carries it out. What contradicts itself is an error
/// when it is run, never silently one of the two.
pub struct TurnBuilder<'a> {
    rejoin: &'a Rejoin,
    dir: PathBuf,
    id: TurnId,
    new_conversation: ConversationId,
    agent: Option<Agent>,
    wanted: Vec<Wanted>,
    places: Vec<Place>,
    prompt: String,
    attach: Vec<PathBuf>,
    session_dir: Option<PathBuf>,
    cwd: Option<PathBuf>,
    fresh: bool,
    ephemeral: bool,
    /// Nothing may be written, not even a cache.
    untouched: bool,
    model: Option<String>,
    permissions: Option<Permissions>,
    scope: Option<Scope>,
    system_prompt: Option<String>,
    append_system_prompt: Option<String>,
    extra_args: Vec<String>,
    env: BTreeMap<String, String>,
    limits: Limits,
    wait: Option<Duration>,
    on_question: Option<Answerer<'a>>,
    cancel: Option<CancelWatch>,
}

/// Whoever answers the agent's questions.
type Answerer<'a> = Box<dyn FnMut(&OpenQuestion<'_>) -> Answer + 'a>;

/// Which conversation was asked for.
enum Wanted {
    Latest,
    Named(String),
    Reference(String),
}

/// As it was asked for.
impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wanted::Latest => f.write_str("continue_latest"),
            Wanted::Named(name) => write!(f, "conversation {name:?}"),
            Wanted::Reference(text) => write!(f, "resume {text:?}"),
        }
    }
}

/// Where in the conversation, in the user's terms; without it, at the head.
enum Place {
    /// After the turn of this message.
    After(String),
    /// Beside the turn of this message, in its stead.
    InsteadOf(String),
    /// The turn of this message (else the head's) again.
    Again(Option<String>),
}

/// As it was asked for.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::After(message) => write!(f, "checkpoint {message:?}"),
            Place::InsteadOf(message) => write!(f, "instead_of {message:?}"),
            Place::Again(Some(message)) => write!(f, "retry {message:?}"),
            Place::Again(None) => f.write_str("retry"),
        }
    }
}

impl<'a> TurnBuilder<'a> {
    pub(crate) fn new(rejoin: &'a Rejoin, dir: PathBuf) -> Self {
        Self {
            rejoin,
            dir,
            id: TurnId::new(uuid::Uuid::new_v4()),
            new_conversation: ConversationId::new(uuid::Uuid::new_v4()),
            agent: None,
            wanted: Vec::new(),
            places: Vec::new(),
            prompt: String::new(),
            attach: Vec::new(),
            session_dir: None,
            cwd: None,
            fresh: false,
            ephemeral: false,
            untouched: false,
            model: None,
            permissions: None,
            scope: None,
            system_prompt: None,
            append_system_prompt: None,
            extra_args: Vec::new(),
            env: BTreeMap::new(),
            limits: Limits::default(),
            wait: None,
            on_question: None,
            cancel: None,
        }
    }

    /// Where the turn will be kept.
    pub fn rejoin(&self) -> &'a Rejoin {
        self.rejoin
    }

    /// The id the turn will have: for whoever must note it before anything is run.
    pub fn id(&self) -> TurnId {
        self.id
    }

    /// The id the conversation will have if the turn begins a new one.
    pub fn new_conversation(&self) -> ConversationId {
        self.new_conversation
    }

    /// Who does it. Without it: the conversation's last agent, else the configured one, else the
    /// first that is installed.
    pub fn agent(mut self, agent: Agent) -> Self {
        self.agent = Some(agent);
        self
    }

    /// Continue the newest conversation of the project; with none there, a warning and a new one.
    pub fn continue_latest(mut self) -> Self {
        self.wanted.push(Wanted::Latest);
        self
    }

    /// Continue the conversation of this name, or begin it.
    pub fn conversation(mut self, name: impl Into<String>) -> Self {
        self.wanted.push(Wanted::Named(name.into()));
        self
    }

    /// Continue a conversation by its id, a unique prefix, its name, or the agent's own session id.
    pub fn resume(mut self, reference: impl Into<String>) -> Self {
        self.wanted.push(Wanted::Reference(reference.into()));
        self
    }

    /// Branch from the turn of this message (id or unique prefix, a turn's number, a branch, `@~1`)
    /// instead of the head.
    pub fn checkpoint(mut self, message: impl Into<String>) -> Self {
        self.places.push(Place::After(message.into()));
        self
    }

    /// Run beside the turn of this message, with another prompt: a branch that begins before it.
    pub fn instead_of(mut self, message: impl Into<String>) -> Self {
        self.places.push(Place::InsteadOf(message.into()));
        self
    }

    /// Run the turn of this message (else the head's) again, with its own prompt: a failed or cut one
    /// goes on as a child, so that its session can be resumed; a completed one gets a sibling.
    pub fn retry(mut self, message: Option<String>) -> Self {
        self.places.push(Place::Again(message));
        self
    }

    /// The user's words.
    pub fn prompt(mut self, prompt: impl Into<String>) -> Self {
        self.prompt = prompt.into();
        self
    }

    /// Sends a file along with this turn: an image, a PDF or a text, as far as the agent takes them.
    /// It is read when the turn is run; the journal keeps its name, type, size and hash, not its bytes.
    pub fn attach(mut self, file: impl Into<PathBuf>) -> Self {
        self.attach.push(file.into());
        self
    }

    /// The agent keeps its sessions in this directory, which must exist, from this turn of the
    /// conversation on; an empty path goes back to the agent's own place. Refused for agents that
    /// could not move them without their login.
    pub fn session_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.session_dir = Some(dir.into());
        self
    }

    /// Run there instead of in the conversation's own directory.
    pub fn cwd(mut self, dir: impl Into<PathBuf>) -> Self {
        self.cwd = Some(dir.into());
        self
    }

    /// A new session of the agent that is told the history.
    pub fn fresh(mut self) -> Self {
        self.fresh = true;
        self
    }

    /// Nothing is recorded, neither by us nor by the agent.
    pub fn ephemeral(mut self) -> Self {
        self.ephemeral = true;
        self
    }

    /// The model, in the agent's own terms.
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// What the agent may do, from this turn on.
    pub fn permissions(mut self, level: Permissions) -> Self {
        self.permissions = Some(level);
        self
    }

    /// Which turns agents should know; only when a conversation begins.
    pub fn scope(mut self, scope: Scope) -> Self {
        self.scope = Some(scope);
        self
    }

    /// Replaces the agent's system prompt for this turn.
    pub fn system_prompt(mut self, text: impl Into<String>) -> Self {
        self.system_prompt = Some(text.into());
        self
    }

    /// Is added to the agent's system prompt for this turn.
    pub fn append_system_prompt(mut self, text: impl Into<String>) -> Self {
        self.append_system_prompt = Some(text.into());
        self
    }

    /// Arguments for the agent; those about permissions and sessions are refused.
    pub fn extra_args(mut self, args: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.extra_args.extend(args.into_iter().map(Into::into));
        self
    }

    /// A variable of the agent's environment for this turn. It also decides where the agent and its sessions are
    /// looked for, so one that moves them costs the session (`store_changed`). Nothing of it is recorded.
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }

    /// A limit for the whole turn.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.limits.turn = Some(limit);
        self
    }

    /// A limit for silence while no tool runs; zero means none.
    pub fn idle_timeout(mut self, limit: Duration) -> Self {
        self.limits.idle = (!limit.is_zero()).then_some(limit);
        self
    }

    /// How long to wait for a conversation that is in use.
    pub fn wait(mut self, limit: Duration) -> Self {
        self.wait = Some(limit);
        self
    }

    /// Answers questions of the agent. Without it, it is told that nobody is there.
    pub fn on_question(mut self, answer: impl FnMut(&OpenQuestion<'_>) -> Answer + 'a) -> Self {
        self.on_question = Some(Box::new(answer));
        self
    }

    /// A handle that stops the turn from another thread or a signal handler.
    pub fn canceller(&mut self) -> Result<Canceller, Error> {
        let (canceller, watch) = CancelWatch::pair()?;
        self.cancel = Some(watch);
        Ok(canceller)
    }

    /// What would be done; nothing is run or written.
    pub fn dry_run(mut self) -> Result<DryRun, Error> {
        self.untouched = true;
        let (rejoin, order, ..) = self.order(false)?;
        Ok(rejoin.engine.dry_run(&order)?)
    }

    /// Whether the turn would resume: each guard with its two values. Needs a conversation, no prompt.
    pub fn why(self) -> Result<Why, Error> {
        let (rejoin, order, ..) = self.order(false)?;
        Ok(rejoin.engine.why(&order)?)
    }

    /// Carries out the turn; `on_event` sees everything that happens.
    pub fn run(mut self, mut on_event: impl FnMut(&Event)) -> Result<TurnOutcome, Error> {
        if self.cancel.is_none() {
            self.canceller()?;
        }
        let (rejoin, order, mut on_question, cancel) = self.order(true)?;
        let Some(cancel) = cancel else { return Err(Error::usage("the turn has no cancel handle")) };
        let watcher = Watcher {
            on_event: &mut on_event,
            on_question: on_question
                .as_mut()
                .map(|answer| &mut **answer as &mut dyn FnMut(&OpenQuestion<'_>) -> Answer),
            cancel,
        };
        rejoin.engine.make_home()?;
        Ok(rejoin.engine.run(order, watcher)?)
    }
}

/// A builder taken apart: what to do, who answers, who stops.
type Parts<'a> = (&'a Rejoin, Order, Option<Answerer<'a>>, Option<CancelWatch>);

impl<'a> TurnBuilder<'a> {
    /// Everything resolved. What is `to_run` is decided under the locks that the turn goes on to hold.
    fn order(self, to_run: bool) -> Result<Parts<'a>, Error> {
        self.check()?;
        let leases = to_run && !self.ephemeral;
        let rejoin = self.rejoin;
        let dir = existing_dir(&self.dir)?;
        let project = rejoin_engine::project_of(&dir);
        let project_config = ProjectConfig::load(&project)?;
        let project_text = project.to_string_lossy().into_owned();
        let mut notices = Vec::new();
        let (existing, beginning) = self.find_conversation(&project_text, leases, &mut notices)?;
        let lease = match (existing.filter(|_| leases), &self.cancel) {
            (Some(id), Some(cancel)) => Some(rejoin.engine.lease_early(id, self.id, self.wait, cancel)?),
            _ => None,
        };

        let loaded = match existing {
            Some(id) => Some(load(rejoin.engine.store(), id)?.conversation),
            None => None,
        };
        if let (Some(id), Some(info)) = (existing, loaded.as_ref().and_then(|loaded| loaded.info.as_ref()))
            && info.project != project_text
        {
            let text = format!("conversation {} belongs to another project: {}", id.short(), info.project);
            notices.push(("other_project".to_owned(), text));
        }
        if existing.is_some() && self.scope.is_some() {
            return Err(Error::usage(
                "the scope of a conversation is chosen when it begins; leave --scope out",
            ));
        }
        let (base, again) = match (&loaded, existing) {
            (Some(loaded), Some(id)) => match self.places.first() {
                Some(place) => place.find(rejoin, id, loaded, !self.attach.is_empty())?,
                None => (Base::Head, None),
            },
            _ => (Base::Head, None),
        };
        let (prompt, last_agent) = match again {
            Some((prompt, agent)) => (prompt, agent),
            None => (self.prompt.clone(), loaded.as_ref().and_then(|loaded| loaded.last_agent().cloned())),
        };
        if matches!(self.places.first(), Some(Place::Again(_)))
            && self.agent.is_none()
            && last_agent.is_none()
        {
            return Err(Error::usage(
                "nothing tells which agent that turn was meant for: it was cut before that was written; name one with -a",
            ));
        }
        let agent = self.choose_agent(last_agent, &project_config)?;
        let mut setup = self.setup(&agent.agent());
        setup.model = project_config.model.or(setup.model);
        let wish = match (self.ephemeral, self.fresh, rejoin.may_resume()) {
            (true, ..) => Wish::Ephemeral,
            (_, true, _) => Wish::Fresh,
            (_, _, false) => Wish::Never,
            _ => Wish::Auto,
        };
        let target = match existing {
            Some(id) => Target::Existing(id),
            None => Target::New {
                id: self.new_conversation,
                project,
                dir: self.cwd.clone().unwrap_or_else(|| dir.clone()),
                scope: self.scope.or(project_config.scope).unwrap_or_default(),
                name: self.wanted.iter().find_map(|wanted| match wanted {
                    Wanted::Named(name) => Some(name.clone()),
                    _ => None,
                }),
            },
        };
        let order = Order {
            id: self.id,
            agent,
            setup,
            target,
            base,
            prompt,
            attachments: read_attachments(&self.attach)?,
            session_dir: self.session_dir,
            cwd: self.cwd,
            wish,
            model: self.model,
            permissions: self.permissions,
            here: dir,
            narrowing: ProjectConfig::level_of,
            system_prompt: self.system_prompt,
            append_system_prompt: self.append_system_prompt,
            extra_args: self.extra_args,
            limits: self.limits,
            wait: self.wait,
            lease,
            beginning,
            notices,
        };
        Ok((rejoin, order, self.on_question, self.cancel))
    }

    /// Refuses what contradicts itself.
    fn check(&self) -> Result<(), Error> {
        if let [one, other, ..] = self.wanted.as_slice() {
            return Err(Error::usage(format!(
                "{one} and {other} exclude each other: only one conversation can be continued"
            )));
        }
        if let [one, other, ..] = self.places.as_slice() {
            return Err(Error::usage(format!(
                "{one} and {other} exclude each other: a turn has one place in its conversation"
            )));
        }
        if let (Some(again @ Place::Again(_)), false) = (self.places.first(), self.prompt.is_empty()) {
            return Err(Error::usage(format!(
                "{again} and a prompt exclude each other: a turn is run again with its own words; use instead_of for others"
            )));
        }
        if self.fresh && self.ephemeral {
            return Err(Error::usage("a fresh session that is kept and an ephemeral one exclude each other"));
        }
        if self.session_dir.is_some() && self.ephemeral {
            return Err(Error::usage(
                "an ephemeral turn stores nothing: a directory for sessions is of no use to it",
            ));
        }
        if !self.places.is_empty() && self.wanted.is_empty() {
            return Err(Error::usage("a checkpoint needs the conversation it is in: continue or resume one"));
        }
        if let Some(Wanted::Named(name)) = self.wanted.first() {
            check_name(name)?;
        }
        for (name, value) in &self.env {
            if name.is_empty() || name.contains(['=', '\0']) {
                return Err(Error::usage(format!("{name:?} cannot name a variable")));
            }
            if value.contains('\0') {
                return Err(Error::usage(format!("the variable {name} contains a NUL byte")));
            }
        }
        Ok(())
    }

    /// How an agent is set up for this turn.
    fn setup(&self, agent: &Agent) -> AgentSetup {
        let mut setup = self.rejoin.setup(agent);
        setup.env.extend(self.env.clone());
        setup
    }

    /// The conversation that was asked for, if it exists; if a new one is to begin, the lock that keeps
    /// its name free, or its project without one to continue.
    fn find_conversation(
        &self,
        project: &str,
        locks: bool,
        notices: &mut Vec<(String, String)>,
    ) -> Result<(Option<ConversationId>, Option<rejoin_journal::Lease>), Error> {
        let rejoin = self.rejoin;
        let index =
            || if self.ephemeral || self.untouched { rejoin.index_untouched() } else { rejoin.index() };
        match self.wanted.first() {
            None => Ok((None, None)),
            Some(Wanted::Reference(text)) => Ok((Some(rejoin.resolve(&mut index(), project, text)?), None)),
            Some(Wanted::Latest) => {
                let newest = || Rejoin::newest(&mut rejoin.index_untouched(), project, 0);
                if let Some(id) = newest()? {
                    return Ok((Some(id), None));
                }
                // Of several that come here at once, one begins, and the others find what it began.
                let beginning = locks.then(|| rejoin.lock_beginning(project)).transpose()?;
                if let Some(id) = newest()? {
                    return Ok((Some(id), None));
                }
                if !self.places.is_empty() {
                    return Err(Error::not_found(
                        "this project has no conversation yet, so no checkpoint either",
                    ));
                }
                let text = "nothing to continue in this project yet: a new conversation begins".to_owned();
                notices.push(("nothing_to_continue".to_owned(), text));
                Ok((None, beginning))
            }
            Some(Wanted::Named(name)) => {
                let naming = locks.then(|| rejoin.lock_names()).transpose()?;
                match Rejoin::by_name(&mut index(), project, name)? {
                    Some(id) => Ok((Some(id), None)),
                    None if !self.places.is_empty() => Err(Error::not_found(format!(
                        "no conversation is named {name:?} here, so it has no checkpoint"
                    ))),
                    None => Ok((None, naming)),
                }
            }
        }
    }

    fn choose_agent(
        &self,
        last: Option<Agent>,
        project: &ProjectConfig,
    ) -> Result<Arc<dyn Definition>, Error> {
        let configured = project.agent.clone().or_else(|| self.rejoin.config.agent.clone()).map(Agent::named);
        if let Some(agent) = self.agent.clone().or(last).or(configured) {
            return known_agent(&agent);
        }
        let installed = rejoin_agents::registry().iter().find(|agent| {
            agent.embedded().is_none()
                && self.rejoin.engine.find_agent(&***agent, &self.setup(&agent.agent())).is_some()
        });
        installed.cloned().ok_or_else(|| {
            let hints: Vec<String> = rejoin_agents::registry()
                .iter()
                .filter(|agent| agent.embedded().is_none())
                .map(|agent| format!("\n  {:<12} {}", agent.title(), agent.install_hint()))
                .collect();
            Error::not_found(format!(
                "no coding agent is installed; install one:{}\nor try the embedded one: -a demo",
                hints.concat()
            ))
        })
    }
}

/// The file of an agent this version knows.
pub(crate) fn known_agent(agent: &Agent) -> Result<Arc<dyn Definition>, Error> {
    rejoin_agents::find(agent).ok_or_else(|| {
        let names = || rejoin_agents::registry().iter().map(|known| known.agent().as_str().to_owned());
        let hint = suggestion(agent.as_str(), names());
        let list: Vec<String> = names().collect();
        Error::usage(format!("unknown agent {:?}; known are {}{hint}", agent.as_str(), list.join(", ")))
    })
}

impl Place {
    /// What the turn goes on from; for a turn that is run again, its prompt and its agent.
    fn find(
        &self,
        rejoin: &Rejoin,
        id: ConversationId,
        conversation: &Conversation,
        attaches: bool,
    ) -> Result<(Base, Option<Again>), Error> {
        let tree = &conversation.tree;
        let turn_of = |text: &str| -> Result<&Turn, Error> {
            let message = find_message(conversation, text)?.message;
            tree.turn(message).ok_or_else(|| Error::not_found(format!("message {text:?} is in no turn")))
        };
        let before = |turn: &Turn| turn.parent.map_or(Base::Start, Base::Turn);
        match self {
            Place::After(text) => Ok((Base::Turn(turn_of(text)?.id), None)),
            Place::InsteadOf(text) => Ok((before(turn_of(text)?), None)),
            Place::Again(text) => {
                let turn = match text {
                    Some(text) => turn_of(text)?,
                    None => tree.head().ok_or_else(|| {
                        Error::not_found("the head stands before the first turn: name the turn to run again")
                    })?,
                };
                let said = messages(rejoin.engine.store(), id, turn, usize::MAX)?.messages;
                let prompt = said.first().map(Message::text).unwrap_or_default();
                let file = said.first().and_then(|prompt| prompt.attachments().next());
                if let (Some(first), false) = (file, attaches) {
                    return Err(Error::usage(format!(
                        "{} was sent along with that prompt, and rejoin keeps no copies of files; attach it again with --attach",
                        first.name
                    )));
                }
                let base = match turn.state() {
                    TurnState::Completed => before(turn),
                    TurnState::Failed | TurnState::Cut => Base::Turn(turn.id),
                };
                let agent = turn.agent.clone().or_else(|| conversation.last_agent().cloned());
                Ok((base, Some((prompt, agent))))
            }
        }
    }
}

/// The prompt and the agent of a turn that is run again.
type Again = (String, Option<Agent>);

pub(crate) fn existing_dir(dir: &Path) -> Result<PathBuf, Error> {
    dir.canonicalize().map_err(|cause| match cause.kind() {
        std::io::ErrorKind::NotFound => {
            Error::not_found(format!("the directory {} does not exist", dir.display()))
        }
        _ => TurnError::System { what: format!("cannot use the directory {}", dir.display()), cause }.into(),
    })
}
