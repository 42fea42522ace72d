//! `rejoin adopt`: which sessions are meant, and what came of each.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rejoin_agents::{Definition, StoredSession};
use rejoin_core::{Agent, ConversationId, Pin, SessionId};
use rejoin_engine::TurnError;
use rejoin_journal::load;

use super::adopt_session::{Adoption, AgentHere, DraftedSession, UsersOfSessions, hold, is_live, unchanged};
use super::find_session::FoundSession;
use super::{AdoptOutcome, AdoptReport, AdoptedSession};
use crate::agent_sessions::{ProjectPlace, ReadStore};
use crate::list::TITLE_WIDTH;
use crate::resolve::known_agent;
use crate::{Error, Rejoin, one_line};

/// Which sessions to adopt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AdoptRequest {
    /// Where the user stands.
    pub here: PathBuf,
    /// Which.
    pub sessions: WantedSessions,
    /// Only tell what would be done.
    pub dry_run: bool,
}

/// Which sessions are meant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WantedSessions {
    /// All there are, but for those whose conversations were removed.
    All {
        /// Only of this agent.
        agent: Option<Agent>,
        /// Those of other projects, too.
        all_projects: bool,
    },
    /// `AGENT:latest`, `AGENT:N`, `AGENT:ID`, an id alone, or a conversation, whose sessions are meant.
    Named(String),
}

/// What is known of all sessions before any is looked at.
struct AllSessions {
    removed: HashSet<SessionId>,
    users: UsersOfSessions,
}

impl Rejoin {
    /// Makes conversations of sessions that agents keep, and brings what went on in those that are known. Nothing is
    /// run but what tells an installed agent's version, and nothing in the agents' stores is touched.
    ///
    /// ```no_run
    /// # use rejoin::{AdoptRequest, Rejoin, WantedSessions};
    /// # fn main() -> Result<(), rejoin::Error> {
    /// let sessions = WantedSessions::Named("claude:latest".into());
    /// let report = Rejoin::open()?.adopt(&AdoptRequest { here: ".".into(), sessions, dry_run: false })?;
    /// for session in report.sessions {
    ///     println!("{} {}: {:?}, {} turns", session.agent, session.session, session.outcome, session.turns);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn adopt(&self, request: &AdoptRequest) -> Result<AdoptReport, Error> {
        if !request.dry_run {
            self.make_home()?;
        }
        let sessions = match &request.sessions {
            WantedSessions::All { agent, all_projects } => {
                self.adopt_all(request, agent.as_ref(), *all_projects)?
            }
            WantedSessions::Named(text) => self.adopt_named(request, text)?,
        };
        Ok(AdoptReport { sessions, dry_run: request.dry_run })
    }

    fn adopt_all(
        &self,
        request: &AdoptRequest,
        agent: Option<&Agent>,
        all_projects: bool,
    ) -> Result<Vec<AdoptedSession>, Error> {
        if let Some(agent) = agent {
            known_agent(agent)?;
        }
        let all = AllSessions { removed: self.removed_sessions()?, users: self.users_of_sessions()? };
        let (mut adopted, mut place) = (Vec::new(), ProjectPlace::around(&request.here));
        for one in
            rejoin_agents::registry().iter().filter(|one| agent.is_none_or(|agent| *agent == one.agent()))
        {
            let Some(read) = self.stored_sessions(&**one, &request.here) else { continue };
            self.keep_cache(&read);
            let (here, sessions) = taken_apart(Arc::clone(one), read);
            for stored in sessions.iter().filter(|stored| all_projects || place.holds(stored)) {
                let told = match self.adopt_one(&here, stored, None, Some(&all), request.dry_run) {
                    Ok(told) => told,
                    // One that is in use, or cannot be read, is no reason to leave the others.
                    Err(error) => failed(&*here.agent, stored, &error),
                };
                adopted.push(told);
            }
        }
        Ok(adopted)
    }

    fn adopt_named(&self, request: &AdoptRequest, text: &str) -> Result<Vec<AdoptedSession>, Error> {
        if rejoin_agents::find(&Agent::named(text)).is_some() {
            return Err(Error::usage(format!(
                "which session of {text}? `{text}:latest` is the one used last in this project, `{text}:2` the second in `rejoin sessions`, and --all takes all of this project"
            )));
        }
        let project = rejoin_engine::project_of(&request.here).to_string_lossy().into_owned();
        let known = self.resolve(&mut self.index(), &project, text);
        let not_known = match known {
            Ok(id) => return self.adopt_into(request, id),
            Err(error @ Error::Turn(TurnError::NotFound(_))) => error,
            Err(error) => return Err(error),
        };
        let Some(FoundSession { agent, stored, store }) = self.find_session(&request.here, text)? else {
            return Err(Error::not_found(format!(
                "{not_known}; nor does an agent keep such a session: `rejoin sessions -A` lists those"
            )));
        };
        let (here, _) = taken_apart(agent, store);
        Ok(vec![self.adopt_one(&here, &stored, None, None, request.dry_run)?])
    }

    /// What is new in the sessions of a conversation.
    fn adopt_into(&self, request: &AdoptRequest, id: ConversationId) -> Result<Vec<AdoptedSession>, Error> {
        let conversation = load(self.engine.store(), id)?.conversation;
        let home = self.home_of(id, &conversation)?;
        let ours = conversation.pins.iter().filter(|pin| pin.home == home);
        let mut adopted = Vec::new();
        for pin in ours.collect::<Vec<_>>().into_iter().rev() {
            let told = match self.session_of_pin(pin, &request.here) {
                Some((here, stored)) => self.adopt_one(&here, &stored, Some(id), None, request.dry_run)?,
                None => AdoptedSession {
                    conversation: Some(id),
                    why: Some("its agent's store does not list it, or cannot be read".to_owned()),
                    ..told(pin.session.agent().clone(), pin.session.as_str(), None, AdoptOutcome::Left)
                },
            };
            adopted.push(told);
        }
        if adopted.is_empty() {
            return Err(Error::not_found(format!(
                "conversation {} has no session made here that could have gone on",
                id.short()
            )));
        }
        Ok(adopted)
    }

    /// The session a pin points to, as its agent's store lists it.
    pub(super) fn session_of_pin(&self, pin: &Pin, here: &Path) -> Option<(AgentHere, StoredSession)> {
        let agent = rejoin_agents::find(pin.session.agent())?;
        let read = self.stored_sessions_in(&*agent, Path::new(&pin.store), here)?;
        self.keep_cache(&read);
        let (here, sessions) = taken_apart(agent, read);
        let stored = sessions.into_iter().find(|session| session.id == pin.session.as_str());
        stored.map(|stored| (here, stored))
    }

    /// One session, into the conversation it is known to belong to, or the one that is found.
    fn adopt_one(
        &self,
        here: &AgentHere,
        stored: &StoredSession,
        into: Option<ConversationId>,
        all: Option<&AllSessions>,
        dry_run: bool,
    ) -> Result<AdoptedSession, Error> {
        let agent = here.agent.agent();
        let session = here.agent.session_id(&stored.id).map_err(|error| Error::usage(error.to_string()))?;
        let into = match into {
            Some(id) => Some(id),
            None => match all {
                Some(all) => self.conversation_of(&session, &all.users)?,
                None => self.conversation_of(&session, &self.users_of_sessions()?)?,
            },
        };
        let told = |outcome| told(agent.clone(), &stored.id, stored.first_prompt.as_deref(), outcome);
        if into.is_none() && all.is_some_and(|all| all.removed.contains(&session)) {
            return Ok(told(AdoptOutcome::Removed));
        }
        let adoption = self.look_and_adopt(here, stored, into, dry_run)?;
        Ok(match adoption {
            Adoption::Left(why) => {
                AdoptedSession { conversation: into, why: Some(why), ..told(AdoptOutcome::Left) }
            }
            Adoption::Unchanged(id, is_live) => {
                AdoptedSession { conversation: Some(id), resumable: is_live, ..told(AdoptOutcome::Known) }
            }
            Adoption::Draft(draft) => {
                let DraftedSession { id, is_new, what, warnings, .. } = *draft;
                let outcome = match (is_new, what.new + what.grown) {
                    (true, _) => AdoptOutcome::New,
                    (false, 0) => AdoptOutcome::Known,
                    (false, _) => AdoptOutcome::Longer,
                };
                AdoptedSession {
                    conversation: Some(id),
                    turns: what.new,
                    grown: what.grown,
                    resumable: what.head_holds && is_live(&what.after, &session),
                    warnings,
                    ..told(outcome)
                }
            }
        })
    }

    /// Looks without keeping anybody away; if there is something to write, again under the lease.
    pub(super) fn look_and_adopt(
        &self,
        here: &AgentHere,
        stored: &StoredSession,
        into: Option<ConversationId>,
        dry_run: bool,
    ) -> Result<Adoption, Error> {
        let look = |id: Option<ConversationId>| -> Result<Adoption, Error> {
            let loaded = id.map(|id| load(self.engine.store(), id)).transpose()?;
            self.draft_adoption(here, stored, id.zip(loaded.as_ref()))
        };
        if dry_run {
            return look(into);
        }
        let id = match into {
            Some(id) => id,
            None => super::ids::conversation(
                &here.agent.session_id(&stored.id).map_err(|error| Error::usage(error.to_string()))?,
            ),
        };
        if let Some(id) = into
            && let Some(is_live) = unchanged(here, stored, &load(self.engine.store(), id)?.conversation)
        {
            return Ok(Adoption::Unchanged(id, is_live));
        }
        let hold = hold(&self.engine, id)?;
        // Somebody else may have adopted it meanwhile.
        let into = if into.is_none() && self.is_there(id)? { Some(id) } else { into };
        let adoption = look(into)?;
        if let Adoption::Draft(draft) = &adoption {
            self.write_adoption(draft, hold.writer())?;
        }
        Ok(adoption)
    }
}

/// What is read of a store, and the sessions in it.
pub(super) fn taken_apart(agent: Arc<dyn Definition>, read: ReadStore) -> (AgentHere, Vec<StoredSession>) {
    let ReadStore { store, place, sessions, .. } = read;
    (AgentHere::new(agent, store, place), sessions)
}

fn told(agent: Agent, session: &str, prompt: Option<&str>, outcome: AdoptOutcome) -> AdoptedSession {
    AdoptedSession {
        agent,
        session: session.to_owned(),
        first_prompt: prompt.map(|prompt| one_line(prompt, TITLE_WIDTH)),
        conversation: None,
        outcome,
        turns: 0,
        grown: 0,
        resumable: false,
        why: None,
        warnings: Vec::new(),
    }
}

fn failed(agent: &dyn Definition, stored: &StoredSession, error: &Error) -> AdoptedSession {
    let outcome = if error.is_busy() { AdoptOutcome::Left } else { AdoptOutcome::Failed };
    AdoptedSession {
        why: Some(error.to_string()),
        ..told(agent.agent(), &stored.id, stored.first_prompt.as_deref(), outcome)
    }
}
