//! From what is wanted to what can be carried out: configuration, conversation and agent are looked up.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rejoin_agents::Definition;
use rejoin_core::plan::Wish;
use rejoin_core::{Agent, Conversation, ConversationId, Message, Turn, TurnState};
use rejoin_engine::{AgentSetup, Base, CancelWatch, Order, Target, TurnError, read_attachments};
use rejoin_journal::{load, messages};

use crate::config::suggestion;
use crate::find_message::find_turn;
use crate::{Error, ProjectConfig, Rejoin, TurnRequest, WantedConversation, WantedPlace};

/// What a request is looked up for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To be carried out: it is decided under the locks that the turn goes on to hold.
    Run,
    /// To be told about.
    Look,
    /// The same, and nothing may be written, not even a cache.
    LookUntouched,
}

/// A request that is being looked up.
#[derive(Clone, Copy)]
pub(crate) struct Resolve<'a> {
    pub(crate) rejoin: &'a Rejoin,
    pub(crate) request: &'a TurnRequest,
    pub(crate) purpose: Purpose,
    /// Who may give up waiting.
    pub(crate) cancel: Option<&'a CancelWatch>,
}

impl Resolve<'_> {
    /// Everything that was looked up.
    pub(crate) fn order(self) -> Result<Order, Error> {
        let Self { rejoin, request, purpose, cancel } = self;
        request.check()?;
        let leases = purpose == Purpose::Run && !request.ephemeral;
        let dir = existing_dir(&request.dir)?;
        let project = rejoin_engine::project_of(&dir);
        let project_config = ProjectConfig::load(&project)?;
        let project_text = project.to_string_lossy().into_owned();
        let mut notices = Vec::new();
        let (existing, beginning) = self.find_conversation(&project_text, leases, &mut notices)?;
        if let (Some(id), Some(request)) = (existing, request.key()) {
            // Before the lease: the turn that stands may hold it.
            rejoin.engine.refuse_repeated(id, &request)?;
        }
        let lease = match (existing.filter(|_| leases), cancel) {
            (Some(id), Some(cancel)) => {
                Some(rejoin.engine.lease_early(id, request.turn, request.wait, cancel)?)
            }
            _ => None,
        };

        // Under the lease, so it is what the turn goes on from.
        let mut loaded = existing.map(|id| load(rejoin.engine.store(), id)).transpose()?;
        if let (Some(id), Some(loaded)) = (existing, &mut loaded) {
            let told = rejoin.come_along(id, loaded, lease.as_ref(), &project_text)?;
            notices.extend(told.map(|told| ("project_moved".to_owned(), told)));
        }
        let conversation = loaded.as_ref().map(|loaded| &loaded.conversation);
        if let (Some(id), Some(info)) = (existing, conversation.and_then(|known| known.info.as_ref()))
            && info.project != project_text
        {
            let text = format!("conversation {} belongs to another project: {}", id.short(), info.project);
            notices.push(("other_project".to_owned(), text));
        }
        if existing.is_some() && request.scope.is_some() {
            return Err(Error::usage(
                "the scope of a conversation is chosen when it begins; leave --scope out",
            ));
        }
        let (base, again) = match (conversation, existing) {
            (Some(known), Some(id)) => match &request.place {
                Some(place) => find_place(place, rejoin, id, known, request.attaches())?,
                None => (Base::Head, None),
            },
            _ => (Base::Head, None),
        };
        let (prompt, last_agent) = match again {
            Some((prompt, agent)) => (prompt, agent),
            None => (request.prompt.clone(), conversation.and_then(|known| known.last_agent().cloned())),
        };
        if matches!(request.place, Some(WantedPlace::Again(_)))
            && request.agent.is_none()
            && last_agent.is_none()
        {
            return Err(Error::usage(
                "nothing tells which agent that turn was meant for: it was cut before that was written; name one with -a",
            ));
        }
        let agent = self.choose_agent(last_agent, &project_config, &project)?;
        let mut setup = self.setup(&agent.agent());
        setup.model = project_config.model.or(setup.model);
        let wish = match (request.ephemeral, request.fresh, rejoin.may_resume()) {
            (true, ..) => Wish::Ephemeral,
            (_, true, _) => Wish::Fresh,
            (_, _, false) => Wish::Never,
            _ => Wish::Auto,
        };
        let target = match existing {
            Some(id) => Target::Existing(id),
            None => Target::New {
                id: request.new_conversation,
                project,
                dir: request.cwd.clone().unwrap_or_else(|| dir.clone()),
                scope: request.scope.or(project_config.scope).unwrap_or_default(),
                name: match &request.conversation {
                    Some(WantedConversation::Named(name)) => Some(name.clone()),
                    _ => None,
                },
            },
        };
        Ok(Order {
            id: request.turn,
            agent,
            setup,
            target,
            base,
            prompt,
            attachments: read_attachments(&request.attach)?,
            kept_attachments: request.attach_kept.clone(),
            session_dir: request.session_dir.clone(),
            cwd: request.cwd.clone(),
            wish,
            model: request.model.clone(),
            permissions: request.permissions,
            ceiling: request.ceiling,
            here: dir,
            narrowing: ProjectConfig::level_of,
            system_prompt: request.system_prompt.clone(),
            append_system_prompt: request.append_system_prompt.clone(),
            extra_args: request.extra_args.clone(),
            limits: request.limits.clone(),
            wait: request.wait,
            request: request.key(),
            interactive: request.interactive,
            loaded,
            lease,
            beginning,
            notices,
        })
    }

    /// How an agent is set up for this turn.
    fn setup(&self, agent: &Agent) -> AgentSetup {
        let mut setup = self.rejoin.setup(agent);
        setup.env.extend(self.request.env.clone());
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
        let Self { rejoin, request, .. } = self;
        let untouched = request.ephemeral || self.purpose == Purpose::LookUntouched;
        let index = || if untouched { rejoin.index_untouched() } else { rejoin.index() };
        match &request.conversation {
            None => Ok((None, None)),
            Some(WantedConversation::Reference(text)) => {
                Ok((Some(rejoin.resolve(&mut index(), project, text)?), None))
            }
            Some(WantedConversation::Id(id)) => Ok((Some(rejoin.known(*id)?), None)),
            Some(WantedConversation::Latest) => {
                let newest = || Rejoin::newest(&mut rejoin.index_untouched(), project, 0);
                if let Some(id) = newest()? {
                    return Ok((Some(id), None));
                }
                // Of several that come here at once, one begins, and the others find what it began.
                let beginning = locks.then(|| rejoin.lock_beginning(project)).transpose()?;
                if let Some(id) = newest()? {
                    return Ok((Some(id), None));
                }
                let places = rejoin.places_besides(&mut index(), project)?;
                if let Some(id) = places.the_former()?.and_then(|former| former.conversations.first()) {
                    return Ok((Some(*id), None));
                }
                if request.place.is_some() {
                    return Err(Error::not_found(
                        "this project has no conversation yet, so no checkpoint either",
                    ));
                }
                let mut text =
                    "nothing to continue in this project yet: a new conversation begins".to_owned();
                if let Some(others) = places.told_of_checkouts() {
                    text = format!("{text}; {others}");
                }
                notices.push(("nothing_to_continue".to_owned(), text));
                Ok((None, beginning))
            }
            Some(WantedConversation::Named(name)) => {
                let naming = locks.then(|| rejoin.lock_names()).transpose()?;
                let mut index = index();
                let found = match Rejoin::by_name(&mut index, project, name)? {
                    Some(found) => Some(found),
                    None => rejoin.named_in_former(&mut index, project, name)?,
                };
                match found {
                    Some(id) => Ok((Some(id), None)),
                    None if request.place.is_some() => Err(Error::not_found(format!(
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
        settings: &ProjectConfig,
        project: &Path,
    ) -> Result<Arc<dyn Definition>, Error> {
        if let Some(agent) = self.request.agent.clone().or(last) {
            return known_agent(&agent);
        }
        if let Some(agent) = &settings.agent {
            return known_agent(&Agent::named(agent))
                .map_err(|error| Error::usage(ProjectConfig::about(project, "agent", &error.to_string())));
        }
        if let Some(agent) = &self.rejoin.config.agent {
            return known_agent(&Agent::named(agent));
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

/// What the turn goes on from; for a turn that is run again, its prompt and its agent.
fn find_place(
    place: &WantedPlace,
    rejoin: &Rejoin,
    id: ConversationId,
    conversation: &Conversation,
    attaches: bool,
) -> Result<(Base, Option<Again>), Error> {
    let tree = &conversation.tree;
    let before = |turn: &Turn| turn.parent.map_or(Base::Start, Base::Turn);
    match place {
        WantedPlace::After(message) => Ok((Base::Turn(find_turn(conversation, message)?.id), None)),
        WantedPlace::InsteadOf(message) => Ok((before(find_turn(conversation, message)?), None)),
        WantedPlace::Again(message) => {
            let turn = match message {
                Some(message) => find_turn(conversation, message)?,
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
