//! From what a person types to the session that is meant.

use std::path::Path;
use std::sync::Arc;

use rejoin_agents::{Definition, StoredSession};
use rejoin_core::{Agent, SessionId};

use crate::agent_sessions::{ProjectPlace, ReadStore};
use crate::{Error, Rejoin, one_line};

/// A session in the store of its agent.
pub(crate) struct FoundSession {
    pub(crate) agent: Arc<dyn Definition>,
    pub(crate) stored: StoredSession,
    pub(crate) store: ReadStore,
}

/// More digits are the beginning of an id.
const LONGEST_NUMBER: usize = 4;
/// A shorter beginning of an id names too many.
const SHORTEST: usize = 4;

impl Rejoin {
    /// The session that `AGENT:latest`, `AGENT:N`, `AGENT:ID` or a whole id of one session means. `None` for a text
    /// that is none of these; an error for one that is and finds nothing.
    pub(crate) fn find_session(&self, here: &Path, text: &str) -> Result<Option<FoundSession>, Error> {
        let Some((name, which)) = text.split_once(':') else { return self.find_bare(here, text) };
        let Some(agent) = rejoin_agents::find(&Agent::named(name)) else { return Ok(None) };
        let Some(store) = self.stored_sessions(&*agent, here) else {
            return Err(Error::usage(format!(
                "the sessions of {name} cannot be read from its store; `rejoin sessions` lists those that can"
            )));
        };
        self.keep_cache(&store);
        let mut place = ProjectPlace::around(here);
        let number = if which == "latest" { Some(1) } else { which.parse::<usize>().ok() };
        if let Some(number) = number.filter(|_| which.len() <= LONGEST_NUMBER || which == "latest") {
            let of_here: Vec<&StoredSession> =
                store.sessions.iter().filter(|session| place.holds(session)).collect();
            let found = number.checked_sub(1).and_then(|at| of_here.get(at));
            return match found.map(|stored| (*stored).clone()) {
                Some(stored) => Ok(Some(FoundSession { agent, stored, store })),
                None => Err(Error::not_found(match of_here.len() {
                    0 => format!(
                        "{name} keeps no session of this project; `rejoin sessions -A` lists those of all projects"
                    ),
                    count => format!(
                        "{name} keeps {count} sessions of this project, so there is none with the number {number}; `rejoin sessions` lists them"
                    ),
                })),
            };
        }
        // What is shown is cut with an ellipsis now and then.
        let wanted = which.trim_end_matches('…');
        let is_it = |session: &&StoredSession| session.id == wanted;
        let begins = |session: &&StoredSession| wanted.len() >= SHORTEST && session.id.starts_with(wanted);
        let whole: Vec<&StoredSession> = store.sessions.iter().filter(is_it).collect();
        let found = if whole.is_empty() { store.sessions.iter().filter(begins).collect() } else { whole };
        match found.as_slice() {
            [one] => Ok(Some(FoundSession { stored: (*one).clone(), agent, store })),
            [] => Err(Error::not_found(format!(
                "{name} keeps no session {which:?}; `rejoin sessions -A --agent {name}` lists those it keeps"
            ))),
            many => Err(Error::usage(format!(
                "{which:?} is the beginning of {} sessions of {name}; type more of it:{}",
                many.len(),
                listed(many)
            ))),
        }
    }

    /// A session by its whole id, which one store has.
    fn find_bare(&self, here: &Path, text: &str) -> Result<Option<FoundSession>, Error> {
        let mut found = Vec::new();
        for agent in rejoin_agents::registry() {
            if agent.session_id(text).is_err() {
                continue;
            }
            let Some(store) = self.stored_sessions(&**agent, here) else { continue };
            self.keep_cache(&store);
            if let Some(stored) = store.sessions.iter().find(|session| session.id == text).cloned() {
                found.push(FoundSession { agent: Arc::clone(agent), stored, store });
            }
        }
        if found.len() > 1 {
            let names: Vec<String> =
                found.iter().map(|found| format!("{}:{text}", found.agent.agent())).collect();
            return Err(Error::usage(format!(
                "several agents keep a session of this id: name one of {}",
                names.join(", ")
            )));
        }
        Ok(found.pop())
    }
}

impl FoundSession {
    /// Its id, which is one.
    pub(crate) fn id(&self) -> Result<SessionId, Error> {
        self.agent.session_id(&self.stored.id).map_err(|error| Error::usage(error.to_string()))
    }

    /// The agent and the beginning of the id, for people.
    pub(crate) fn label(&self) -> String {
        let id = &self.stored.id;
        format!("{} {}", self.agent.agent(), &id[..id.floor_char_boundary(8)])
    }
}

/// Candidates, a line each.
fn listed(candidates: &[&StoredSession]) -> String {
    let shown = |session: &&StoredSession| {
        let title = session.title.as_ref().or(session.first_prompt.as_ref());
        format!("\n  {}  {}", session.id, one_line(title.map_or("", String::as_str), 60))
    };
    candidates.iter().take(8).map(shown).collect()
}
