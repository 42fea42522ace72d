//! From what is wanted to what can be carried out: configuration, conversation and agent are looked up.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rejoin_agents::Definition;
use rejoin_core::plan::Wish;
use rejoin_core::{Agent, Conversation, ConversationId, Message, Turn, TurnState};
use rejoin_engine::{
    AgentSetup, Base, CancelWatch, EarlyLease, Engine, Order, Target, TurnError, read_attachments,
};
use rejoin_journal::{Loaded, messages};

use crate::adopt::before_turn::{self, Adopt, NamedSession, beside_the_head, load_on, with_draft};
use crate::after_limit::{WhoGoesOn, narrower, who_goes_on};
use crate::config::suggestion;
use crate::find_message::find_turn;
use crate::handover::Asked;
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
    /// Everything that was looked up, and the engine it is for: where something would be adopted before the turn, one
    /// on which the conversation stands as it would then. `ask` is asked before the history goes back to another vendor.
    pub(crate) fn order(self, ask: Option<&mut Asked<'_>>) -> Result<(Order, Engine), Error> {
        let Self { rejoin, request, purpose, cancel } = self;
        request.check()?;
        let leases = purpose == Purpose::Run && !request.ephemeral;
        let dir = existing_dir(&request.dir)?;
        let project = rejoin_engine::project_of(&dir);
        let project_config = ProjectConfig::load(&project)?;
        let project_text = project.to_string_lossy().into_owned();
        let mut notices = Vec::new();
        let FoundConversation { id: existing, beginning, session } =
            self.find_conversation(&dir, &project_text, leases, &mut notices)?;
        let mut engine = rejoin.engine.clone();
        if let Some(draft) = session.as_ref().and_then(|session| session.draft.as_ref()) {
            engine = with_draft(&engine, draft)?;
        }
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
        let mut loaded = existing.map(|id| load_on(&engine, id)).transpose()?;
        // Whoever was used outside meanwhile: that changes nothing about who goes on.
        let last_agent = loaded.as_ref().and_then(|loaded| loaded.conversation.last_agent().cloned());
        if let (Some(id), Some(loaded), false) = (existing, &mut loaded, request.ephemeral) {
            self.adopt_what_went_on((id, loaded), &dir, lease.as_ref(), &mut engine, &mut notices)?;
        }
        if let (Some(id), Some(loaded)) = (existing, &mut loaded) {
            let told =
                rejoin.come_along(id, loaded, lease.as_ref(), &project_text, || self.refuse_first())?;
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
            (Some(known), Some(id)) => {
                if let Some(place) = &request.place {
                    find_place(place, &engine, id, known, request.attaches())?
                } else {
                    let named = session.as_ref().map(|named| &named.session);
                    let beside = named.and_then(|session| beside_the_head(known, session));
                    (beside.map_or(Base::Head, Base::Turn), None)
                }
            }
            _ => (Base::Head, None),
        };
        let (prompt, last_agent) = match again {
            Some((prompt, agent)) => (prompt, agent),
            None => (request.prompt.clone(), last_agent),
        };
        let now = jiff::Zoned::now();
        let WhoGoesOn { agent: last_agent, stands_in, notice } =
            who_goes_on((rejoin, request), conversation, last_agent, &now, ask)?;
        notices.extend(notice);
        if matches!(request.place, Some(WantedPlace::Again(_)))
            && request.agent.is_none()
            && last_agent.is_none()
        {
            return Err(Error::usage(
                "nothing tells which agent that turn was meant for: it was cut before that was written; name one with -a",
            ));
        }
        // Who names a session means its agent.
        let last_agent = session.as_ref().map(|named| named.session.agent().clone()).or(last_agent);
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
        let order = Order {
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
            ceiling: narrower(request.ceiling, stands_in.as_ref().and_then(|stands_in| stands_in.ceiling)),
            here: dir,
            narrowing: ProjectConfig::level_of,
            system_prompt: request.system_prompt.clone(),
            append_system_prompt: request.append_system_prompt.clone(),
            extra_args: request.extra_args.clone(),
            limits: rejoin.limits(&request.limits),
            wait: request.wait,
            request: request.key(),
            interactive: request.interactive,
            loaded,
            lease,
            beginning,
            stands_in,
            notices,
        };
        Ok((order, engine))
    }

    /// Refuses what will be refused, by the engine as well, before anything is written for it: the turn is prepared as
    /// for a dry run.
    fn refuse_first(&self) -> Result<(), Error> {
        let (order, engine) = Self { purpose: Purpose::LookUntouched, ..*self }.order(None)?;
        engine.dry_run(order)?;
        Ok(())
    }

    /// Brings what went on outside of rejoin into a conversation: under the lease of the turn, or, where none is
    /// held, onto an engine of its own. What cannot be read stays a gap.
    fn adopt_what_went_on(
        &self,
        (id, loaded): (ConversationId, &mut Loaded),
        dir: &Path,
        lease: Option<&EarlyLease>,
        engine: &mut Engine,
        notices: &mut Vec<(String, String)>,
    ) -> Result<(), Error> {
        let rejoin = self.rejoin;
        for pin in rejoin.used_outside(id, &loaded.conversation)? {
            let draft = match rejoin.draft_for_turn(&pin, (id, loaded), dir) {
                Ok(Some(draft)) => draft,
                Ok(None) => continue,
                Err(error) => {
                    notices.push(("not_adopted".to_owned(), error.to_string()));
                    continue;
                }
            };
            let how = if let Some(lease) = lease {
                self.refuse_first()?;
                rejoin.write_adoption(&draft, lease.writer())?;
                Adopt::Write
            } else {
                *engine = with_draft(engine, &draft)?;
                Adopt::Tell
            };
            notices.extend(before_turn::notices(&draft, &pin.session, how));
            *loaded = load_on(engine, id)?;
        }
        Ok(())
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
        dir: &Path,
        project: &str,
        locks: bool,
        notices: &mut Vec<(String, String)>,
    ) -> Result<FoundConversation, Error> {
        let Self { rejoin, request, .. } = self;
        let found = |id| FoundConversation { id, beginning: None, session: None };
        let untouched = request.ephemeral || self.purpose == Purpose::LookUntouched;
        let index = || if untouched { rejoin.index_untouched() } else { rejoin.index() };
        match &request.conversation {
            None => Ok(found(None)),
            Some(WantedConversation::Reference(text)) => {
                let known = rejoin.resolve(&mut index(), project, text);
                let Err(not_known @ Error::Turn(TurnError::NotFound(_))) = known else {
                    return known.map(|id| found(Some(id)));
                };
                let how = match (self.purpose, request.ephemeral) {
                    (Purpose::Run, true) => Adopt::Refuse,
                    (Purpose::Run, false) => Adopt::Write,
                    (Purpose::Look | Purpose::LookUntouched, _) => Adopt::Tell,
                };
                let named = rejoin.session_for_turn(dir, text, how, || self.refuse_first())?;
                let Some(mut session) = named else { return Err(not_known) };
                notices.append(&mut session.notices);
                let id = Some(session.conversation);
                Ok(FoundConversation { id, beginning: None, session: Some(session) })
            }
            Some(WantedConversation::Id(id)) => Ok(found(Some(rejoin.known(*id)?))),
            Some(WantedConversation::Latest) => {
                let newest = || Rejoin::newest(&mut rejoin.index_untouched(), project, 0);
                if let Some(id) = newest()? {
                    return Ok(found(Some(id)));
                }
                // Of several that come here at once, one begins, and the others find what it began.
                let beginning = locks.then(|| rejoin.lock_beginning(project)).transpose()?;
                if let Some(id) = newest()? {
                    return Ok(found(Some(id)));
                }
                let places = rejoin.places_besides(&mut index(), project)?;
                if let Some(id) = places.the_former()?.and_then(|former| former.conversations.first()) {
                    return Ok(found(Some(*id)));
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
                Ok(FoundConversation { beginning, ..found(None) })
            }
            Some(WantedConversation::Named(name)) => {
                let naming = locks.then(|| rejoin.lock_names()).transpose()?;
                let mut index = index();
                let known = match Rejoin::by_name(&mut index, project, name)? {
                    Some(known) => Some(known),
                    None => rejoin.named_in_former(&mut index, project, name)?,
                };
                match known {
                    Some(id) => Ok(found(Some(id))),
                    None if request.place.is_some() => Err(Error::not_found(format!(
                        "no conversation is named {name:?} here, so it has no checkpoint"
                    ))),
                    None => Ok(FoundConversation { beginning: naming, ..found(None) }),
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

/// The conversation that was asked for.
struct FoundConversation {
    /// If it exists.
    id: Option<ConversationId>,
    /// Held until it is begun.
    beginning: Option<rejoin_journal::Lease>,
    /// The session it was named by, where no conversation was.
    session: Option<NamedSession>,
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
    engine: &Engine,
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
            let said = messages(engine.store(), id, turn, usize::MAX)?.messages;
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
