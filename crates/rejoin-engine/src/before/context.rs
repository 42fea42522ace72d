//! Everything that is read before anything is decided.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use rejoin_core::compose::Told;
use rejoin_core::plan::{Plan, Runtime, Situation, Stored, Wish, plan};
use rejoin_core::{
    Conversation, ConversationId, ConversationInfo, Decision, FailureClass, Kind, Limit, LimitedBy,
    MessageId, Origin, Outcome, Permissions, Pin, PinBinding, ProjectMarks, SaidHere, Settings, Slice,
    System, Tree, Turn, TurnId, TurnState, not_counted, pins_to_weigh,
};
use rejoin_journal::{Loaded, messages};

use crate::before::project_marks::SeenProject;
use crate::before::stored_session::{self, Looks};
use crate::before::{git, origin};
use crate::during::record_writer::RecordHeader;
use crate::{Base, Engine, Installation, Order, Target, TurnError, project_of};

/// The conversation as it stands, and the place and program of the turn.
pub(crate) struct TurnContext {
    pub(crate) installation: Installation,
    /// The conversation; a new one has its id already, but nothing is written.
    pub(crate) id: ConversationId,
    pub(crate) info: ConversationInfo,
    pub(crate) is_new: bool,
    pub(crate) conversation: Conversation,
    /// Where it came from, with what is said now; to be noted before anything is written, if not yet.
    pub(crate) origin: origin::Found,
    /// The path the turn continues, oldest first.
    pub(crate) path: Vec<TurnId>,
    /// The message the turn hangs on.
    pub(crate) hang_on: Option<MessageId>,
    pub(crate) slice: Slice,
    /// The directory of the turn.
    pub(crate) dir: PathBuf,
    /// Environment additions: the user's, and where the agent keeps its sessions.
    pub(crate) env: BTreeMap<String, String>,
    /// The directory for sessions that was named for this turn, as it is written down.
    pub(crate) session_dir: Option<String>,
    pub(crate) store: Option<PathBuf>,
    pub(crate) runtime: Runtime,
    pub(crate) permissions: Permissions,
    pub(crate) model: Option<String>,
    pub(crate) warnings: Vec<(String, String)>,
    /// At the stored sessions of pins.
    pub(crate) looks: Looks,
}

impl TurnContext {
    /// Reads everything an order depends on. Writes nothing.
    pub(crate) fn read(engine: &Engine, order: &Order, loaded: Option<Loaded>) -> Result<Self, TurnError> {
        let agent = &*order.agent;
        let (id, info, conversation, is_new, noted) = match &order.target {
            Target::New { id, project, dir, scope, .. } => {
                let (project, dir) = (text(project)?, text(&real_dir(dir)?)?);
                let info = ConversationInfo { schema: System::SCHEMA, project, dir, scope: *scope };
                (*id, info, Conversation::default(), true, Vec::new())
            }
            Target::Existing(id) => {
                let loaded = match loaded {
                    Some(loaded) => Engine::check_format(*id, loaded)?,
                    None => engine.load_to_write(*id)?,
                };
                let noted = loaded.problems.noted.iter().filter(|noted| !noted.problem.is_harmless());
                let noted = noted.take(5).map(ToString::to_string).chain(loaded.conversation.passed_over());
                let warnings = noted.map(|text| ("journal".to_owned(), text)).collect();
                let info = loaded.conversation.info.clone().ok_or_else(|| {
                    TurnError::Usage(format!(
                        "conversation {id} has lost its first record, which says where it lives; start a new one with --cwd and tell it what matters"
                    ))
                })?;
                (*id, info, loaded.conversation, false, warnings)
            }
        };
        let mut warnings = order.notices.clone();
        warnings.extend(noted);
        let found = if is_new {
            origin::Found { origin: Origin::Here, noted: false }
        } else {
            engine.find_origin(id, &conversation)?
        };
        let settings = Settings::of(&conversation, &found.origin, &agent.agent());
        let dir = real_dir(match (&order.cwd, is_new, &settings.dir) {
            (Some(dir), ..) => dir,
            (None, true, _) => Path::new(&info.dir),
            (None, false, Some(dir)) => Path::new(dir),
            (None, false, None) => &order.here,
        })?;
        let installation = engine.find_agent(agent, &order.setup).ok_or_else(|| not_installed(order))?;
        let (path, hang_on, gap) = path_of(&conversation, order.base)?;
        if gap {
            warnings.push((
                "gap".into(),
                "part of the history is missing from the journal; what is left is used".into(),
            ));
        }
        let slice = {
            let turns: Vec<&Turn> = path.iter().filter_map(|turn| conversation.tree.turn(*turn)).collect();
            Tree::slice(&turns, info.scope, &agent.agent())
        };
        let session_dir = order.session_dir.as_deref().map(session_dir).transpose()?;
        let in_force = session_dir.as_ref().or(settings.session_dir.as_ref());
        let mut env = order.setup.env.clone();
        if let Some(dir) = in_force.filter(|dir| !dir.is_empty())
            && order.wish != Wish::Ephemeral
        {
            if !Path::new(dir).is_dir() {
                return Err(TurnError::NotFound(format!(
                    "the directory {dir}, where {} keeps its sessions of this conversation, is gone; name another one with --session-dir (an empty one is the agent's own), and the history is replayed",
                    agent.agent()
                )));
            }
            let (name, value) = agent.session_dir(&installation.capabilities, dir)?;
            env.insert(name.clone(), value);
        }
        let store = engine.agent_store(agent, &env);
        let runtime = Runtime {
            product: installation.product(),
            can_resume: installation.capabilities.resume,
            store: store.as_deref().map(|path| path.to_string_lossy().into_owned()).unwrap_or_default(),
        };
        let permissions = level_in_force(order, settings.limits, &info, &found.origin, &dir)?;
        if conversation.ceiling_lost && order.permissions.is_none() {
            warnings.push(("level_lost".into(), LEVEL_LOST.into()));
        }
        let origin = say(found, order, &conversation, &dir, session_dir.as_ref(), &mut warnings);
        Ok(Self {
            permissions,
            model: order.model.clone().or(settings.model).or_else(|| order.setup.model.clone()),
            origin,
            installation,
            id,
            info,
            is_new,
            conversation,
            path,
            hang_on,
            slice,
            dir,
            env,
            session_dir,
            store,
            runtime,
            warnings,
            looks: Looks::default(),
        })
    }

    /// Decides.
    pub(crate) fn plan(&self, engine: &Engine, order: &Order) -> Plan {
        self.judge(engine, order, |situation| plan(situation, |pin| self.stored(order, pin)))
    }

    /// Hands out everything the decision depends on.
    pub(crate) fn judge<T>(
        &self,
        engine: &Engine,
        order: &Order,
        judge: impl FnOnce(&Situation<'_>) -> T,
    ) -> T {
        judge(&Situation {
            slice: &self.slice,
            first_turn: self.path.is_empty(),
            pins: &self.pins(order),
            scope: self.info.scope,
            dir: &self.dir.to_string_lossy(),
            home: self.home(engine),
            runtime: &self.runtime,
            wish: order.wish,
        })
    }

    /// The home that pins made here name.
    fn home<'a>(&'a self, engine: &'a Engine) -> &'a str {
        match &self.origin.origin {
            Origin::Here => engine.home.id(),
            Origin::Elsewhere(said) => &said.home,
        }
    }

    /// Whether somebody used the session of a pin since we left it.
    pub(crate) fn was_used_elsewhere(&self, order: &Order, pin: &Pin) -> bool {
        stored_session::was_used_elsewhere(&self.looks.at(&*order.agent, pin), pin)
    }

    /// How the stored session of a pin stands against what we left.
    pub(crate) fn stored(&self, order: &Order, pin: &Pin) -> Stored {
        stored_session::stands(&self.looks.at(&*order.agent, pin), pin)
    }

    /// The agent's own pins.
    fn pins(&self, order: &Order) -> Vec<Pin> {
        let agent = order.agent.agent();
        pins_to_weigh(&self.conversation, &self.origin.origin, &agent)
    }

    /// Pins of the agent that a forced fresh session puts out of use: those on this path.
    pub(crate) fn pins_to_retire(&self, order: &Order) -> Vec<Pin> {
        if order.wish != Wish::Fresh {
            return Vec::new();
        }
        let on_path = |pin: &Pin| {
            !matches!(pin.state, rejoin_core::PinState::Retired { .. })
                && self.slice.starts_with(&pin.exposed)
        };
        self.pins(order).into_iter().filter(on_path).collect()
    }

    /// The texts an agent must be told, and the sizes of turns that were not even read.
    ///
    /// What is read is bounded by the budget, however long the conversation is: turns whole, newest first, until what
    /// was said in them fills it; of those before them only what the user said, until that alone fills it; and of the
    /// oldest ones, if there are more.
    pub(crate) fn told(
        &self,
        engine: &Engine,
        order: &Order,
        turns: &[TurnId],
    ) -> Result<(Vec<Told>, HashMap<TurnId, usize>), TurnError> {
        let budget = self.budget(order);
        let turns: Vec<&Turn> = turns.iter().filter_map(|turn| self.conversation.tree.turn(*turn)).collect();
        let (mut asked, mut words, mut read) = (0, 0, 0);
        let mut newest: Vec<Told> = Vec::new();
        for turn in turns.iter().rev() {
            if asked > budget {
                break;
            }
            let whole = words <= budget && read + turn.bytes <= budget.saturating_mul(READ_PER_BUDGET);
            let told = if whole || newest.is_empty() {
                read += turn.bytes;
                self.tell(engine, turn, budget)?
            } else {
                self.tell_prompt(engine, turn, budget)?
            };
            let (its_asked, its_words) = told.weigh();
            asked += its_asked;
            words += its_words;
            newest.push(told);
        }
        let rest = &turns[..turns.len() - newest.len()];
        let (mut told, mut asked) = (Vec::new(), 0);
        for turn in rest {
            if asked > budget / 2 {
                break;
            }
            let prompt = self.tell_prompt(engine, turn, budget)?;
            asked += prompt.weigh().0;
            told.push(prompt);
        }
        let unread = rest[told.len()..].iter().map(|turn| (turn.id, turn.bytes)).collect();
        told.extend(newest.into_iter().rev());
        Ok((told, unread))
    }

    /// What was said and done in a turn. Of a huge one less of each text is read, but as much as fills the budget.
    fn tell(&self, engine: &Engine, turn: &Turn, budget: usize) -> Result<Told, TurnError> {
        let most = budget.max(LEAST_OF_A_TEXT);
        if turn.bytes <= budget.saturating_mul(4) {
            return self.tell_up_to(engine, turn, most);
        }
        let told = self.tell_up_to(engine, turn, LEAST_OF_A_TEXT)?;
        let (held, cut) = told
            .sizes()
            .fold((0, 0), |(held, cut), size| (held + size, cut + usize::from(size >= LEAST_OF_A_TEXT)));
        if held >= budget || cut == 0 {
            return Ok(told);
        }
        self.tell_up_to(engine, turn, (LEAST_OF_A_TEXT + (budget - held) / cut).min(most))
    }

    fn tell_up_to(&self, engine: &Engine, turn: &Turn, limit: usize) -> Result<Told, TurnError> {
        let read = messages(engine.store(), self.id, turn, limit)?;
        Ok(Told {
            id: turn.id,
            agent: turn.agent.clone(),
            state: turn.state(),
            shortened: read.left_out > 0 || !read.problems.is_empty(),
            unread: 0,
            messages: read.messages,
        })
    }

    /// What the user said in a turn.
    fn tell_prompt(&self, engine: &Engine, turn: &Turn, budget: usize) -> Result<Told, TurnError> {
        let mut prompt = turn.clone();
        // An edited prompt stands elsewhere, too.
        if turn.revision == 0 {
            prompt.records.truncate(1);
        }
        let mut told = self.tell_up_to(engine, &prompt, budget.max(LEAST_OF_A_TEXT))?;
        told.messages.retain(|message| message.kind == Kind::User);
        if turn.records.len() > 1 {
            told.unread = turn.bytes.saturating_sub(told.sizes().sum()).max(1);
        }
        Ok(told)
    }

    /// The replay budget, halved for each overflow that was met at the end of this path.
    pub(crate) fn budget(&self, order: &Order) -> usize {
        let agent = order.agent.agent();
        let mine = self.path.iter().rev().filter_map(|turn| self.conversation.tree.turn(*turn));
        let mine = mine.filter(|turn| turn.agent.as_ref() == Some(&agent));
        let overflowed = |turn: &&Turn| {
            let outcome = turn.receipt.as_ref().map(|receipt| &receipt.outcome);
            matches!(outcome, Some(Outcome::Failed { class: FailureClass::ContextOverflow, .. }))
        };
        order.setup.replay_budget >> mine.take_while(overflowed).count().min(8)
    }

    /// What the turns behind the first `known` ones of the slice take in a replay: their stored size, within the
    /// budget. No text is read for it.
    pub(crate) fn told_bytes(&self, order: &Order, known: usize) -> usize {
        let turns = self.slice.after(known).filter_map(|turn| self.conversation.tree.turn(turn));
        turns.map(|turn| turn.bytes).sum::<usize>().min(self.budget(order))
    }

    /// What a fresh session would have been sent instead of the `sent` bytes of a resumed turn.
    pub(crate) fn replay_bytes(&self, order: &Order, plan: &Decision, sent: usize) -> Option<usize> {
        let Decision::Resume { catch_up, .. } = plan else { return None };
        let known = self.slice.len().saturating_sub(*catch_up);
        // A turn that was not begun saved nothing.
        (sent > 0).then(|| sent + self.told_bytes(order, 0).saturating_sub(self.told_bytes(order, known)))
    }

    /// A turn the session may hold was cut, or ended without a word: commands may have run.
    pub(crate) fn after_cut(&self, plan: &Plan) -> bool {
        let Plan::Resume { catch_up, .. } = plan else { return false };
        let maybe_known = catch_up.iter().filter(|missed| missed.maybe_known);
        maybe_known.filter_map(|missed| self.conversation.tree.turn(missed.turn)).any(|turn| {
            let outcome = turn.receipt.as_ref().map(|receipt| &receipt.outcome);
            turn.state() == TurnState::Cut
                || matches!(outcome, Some(Outcome::Failed { class: FailureClass::NoResult, .. }))
        })
    }

    /// In the last turn the session holds its agent asked something, and it was answered or declined.
    pub(crate) fn after_question(&self, plan: &Plan) -> bool {
        let last = plan.last_held(&self.slice);
        last.and_then(|turn| self.conversation.tree.turn(turn)).is_some_and(|turn| turn.answered)
    }

    /// By what the project is known again, if that is not what was noted last.
    pub(crate) fn new_marks(&self) -> Option<ProjectMarks> {
        let noted = self.conversation.marks.as_ref();
        let marks = SeenProject::look(Path::new(&self.info.project)).marks(noted);
        // Nothing can be learnt of a project that is gone.
        let is_there = marks != ProjectMarks::default();
        (is_there && noted != Some(&marks)).then_some(marks)
    }

    /// What every record of the turn begins with.
    pub(crate) fn record_header(&self) -> RecordHeader {
        RecordHeader {
            conversation: self.id,
            cwd: self.dir.to_string_lossy().into_owned(),
            git_branch: git::branch(Path::new(&self.info.project)),
        }
    }

    /// What a new session is bound to.
    pub(crate) fn pin_binding(&self, engine: &Engine) -> PinBinding {
        PinBinding {
            scope: self.info.scope,
            dir: self.dir.to_string_lossy().into_owned(),
            store: self.runtime.store.clone(),
            product: self.runtime.product.clone(),
            home: self.home(engine).to_owned(),
        }
    }
}

/// At least so much is read of every text.
const LEAST_OF_A_TEXT: usize = 1024;

/// So many times the budget is read at most to fill it with what was said.
const READ_PER_BUDGET: usize = 16;

/// The path a turn continues and the message it hangs on.
fn path_of(
    conversation: &Conversation,
    base: Base,
) -> Result<(Vec<TurnId>, Option<MessageId>, bool), TurnError> {
    let tree = &conversation.tree;
    let at = match base {
        Base::Head => tree.head(),
        Base::Start => None,
        Base::Turn(message) => Some(tree.turn(message).ok_or_else(|| {
            TurnError::NotFound(format!(
                "message {message} is not in this conversation; `rejoin show --ids` lists them"
            ))
        })?),
    };
    let (path, gap) = tree.path(at.map(|turn| turn.id));
    Ok((path.iter().map(|turn| turn.id).collect(), at.map(|turn| turn.end), gap.is_some()))
}

/// Told when the narrowest level is in force because nobody knows which was named.
const LEVEL_LOST: &str = "the record of what agents may do here is damaged, or of a newer rejoin: the narrowest level, read, is in force until you name one with --permissions";

/// The level in force. The files of all projects the turn has to do with can narrow it: of the one the
/// user stands in, the one it runs in, and the conversation's own.
fn level_in_force(
    order: &Order,
    mut limits: Vec<Limit>,
    info: &ConversationInfo,
    origin: &Origin,
    dir: &Path,
) -> Result<Permissions, TurnError> {
    if let (Some(named), Some(ceiling)) = (order.permissions, order.ceiling)
        && !named.fits_under(ceiling)
    {
        let (named, ceiling) = (named.name(), ceiling.name());
        let text = format!("level {named} is more than {}, {ceiling}, allows", LimitedBy::Caller);
        return Err(TurnError::Permission(text));
    }
    limits.extend(order.ceiling.map(|level| Limit { level, by: LimitedBy::Caller }));
    let configured = order.setup.permissions;
    limits.extend(configured.map(|level| Limit { level, by: LimitedBy::Configuration }));
    let mut projects = vec![project_of(&order.here), project_of(dir)];
    if *origin == Origin::Here {
        projects.push(PathBuf::from(&info.project));
    }
    projects.sort_unstable();
    projects.dedup();
    for project in projects {
        if let Some(level) = (order.narrowing)(&project)? {
            let file = project.join(".rejoin.toml").display().to_string();
            limits.push(Limit { level, by: LimitedBy::Project(file) });
        }
    }
    Permissions::in_force(order.permissions, &limits)
        .map_err(|error| TurnError::Permission(error.to_string()))
}

/// Adds what the user says now to what they said before about a conversation from elsewhere, and tells,
/// the first time, what of it does not count.
fn say(
    found: origin::Found,
    order: &Order,
    conversation: &Conversation,
    dir: &Path,
    session_dir: Option<&String>,
    warnings: &mut Vec<(String, String)>,
) -> origin::Found {
    let Origin::Elsewhere(before) = found.origin else { return found };
    let agent = order.agent.agent();
    let mut said = before.clone();
    said.permissions = order.permissions.or(said.permissions);
    // Where its first turn here runs is where it lives from then on.
    said.dir = said.dir.or_else(|| Some(dir.to_string_lossy().into_owned()));
    said.models.extend(order.model.iter().map(|model| (agent.clone(), model.clone())));
    said.session_dirs.extend(session_dir.map(|dir| (agent.clone(), dir.clone())));
    said.told = true;
    if !before.told {
        let lives_here = conversation.info.as_ref().is_some_and(|info| Path::new(&info.dir) == dir);
        let dir = if lives_here || order.cwd.is_some() { said.dir.clone() } else { before.dir.clone() };
        let now = Origin::Elsewhere(SaidHere { dir, ..said.clone() });
        let text = not_counted(conversation, &now, Some(&agent));
        warnings.extend(text.map(|text| ("from_elsewhere".to_owned(), text)));
    }
    origin::Found { noted: found.noted && said == before, origin: Origin::Elsewhere(said) }
}

fn not_installed(order: &Order) -> TurnError {
    let agent = &order.agent;
    if agent.embedded().is_some() {
        return TurnError::NotFound(format!(
            "{} is part of the rejoin executable, which was not found beside this program nor on PATH; install rejoin or name it in REJOIN_HELPER",
            agent.title()
        ));
    }
    match &order.setup.command {
        Some(command) => TurnError::NotFound(format!(
            "the command {command:?} configured for {} is not there; correct it in the configuration or install {}: {}",
            agent.agent(),
            agent.title(),
            agent.install_hint()
        )),
        None => TurnError::NotFound(format!(
            "{} is not installed ({:?} is not on PATH); install it: {}; or try rejoin with `-a demo`",
            agent.title(),
            agent.command(),
            agent.install_hint()
        )),
    }
}

/// The real path of a directory that must exist.
fn real_dir(dir: &Path) -> Result<PathBuf, TurnError> {
    let real = dir.canonicalize().map_err(|cause| match cause.kind() {
        std::io::ErrorKind::NotFound => TurnError::NotFound(format!(
            "the directory {} is gone; name another one with --cwd (the history is then replayed there)",
            dir.display()
        )),
        _ => TurnError::System { what: format!("cannot use the directory {}", dir.display()), cause },
    })?;
    if real.is_dir() {
        Ok(real)
    } else {
        Err(TurnError::Usage(format!("{} is not a directory", real.display())))
    }
}

/// A directory for sessions as it is written down: its real path, or nothing for the agent's own.
fn session_dir(dir: &Path) -> Result<String, TurnError> {
    if dir.as_os_str().is_empty() {
        return Ok(String::new());
    }
    let real = dir.canonicalize().ok().filter(|real| real.is_dir()).ok_or_else(|| {
        TurnError::NotFound(format!("{} is no directory for sessions; make it first", dir.display()))
    })?;
    text(&real)
}

fn text(path: &Path) -> Result<String, TurnError> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        TurnError::Usage(format!(
            "the path {} is not valid UTF-8; rejoin cannot keep it in a journal",
            path.display()
        ))
    })
}

/// Environment additions of a run: the user's, the agent's own, and where it runs.
pub(crate) fn environment(
    configured: &BTreeMap<String, String>,
    launch: &[(String, String)],
) -> Vec<(String, String)> {
    let mut env: BTreeMap<&String, &String> = configured.iter().collect();
    env.extend(launch.iter().map(|(name, value)| (name, value)));
    env.into_iter().map(|(name, value)| (name.clone(), value.clone())).collect()
}
