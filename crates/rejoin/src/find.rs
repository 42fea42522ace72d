//! From what a person types to the conversation that is meant.

use std::ops::ControlFlow;
use std::time::Duration;

use rejoin_core::{ConversationId, System};
use rejoin_engine::TurnError;
use rejoin_journal::{Lease, Listed, LockError, Owner, find_by_prefix, find_by_session};

use crate::config::suggestion;
use crate::name::looks_like_an_id;
use crate::{Error, Rejoin};

impl Rejoin {
    /// The conversation of a project that was written last.
    pub(crate) fn newest(&self, project: &str) -> Result<Option<ConversationId>, Error> {
        Ok(self.engine.store().list(Some(project))?.first().map(|listed| listed.id))
    }

    /// The conversation of that name in a project, the newest if several have it.
    pub(crate) fn by_name(&self, project: &str, name: &str) -> Result<Option<ConversationId>, Error> {
        for listed in self.engine.store().list(Some(project))? {
            if self.name_of(listed.id)?.as_deref() == Some(name) {
                return Ok(Some(listed.id));
            }
        }
        Ok(None)
    }

    /// The conversation meant by an id, a unique prefix of one, a name, `@` (the newest here), or an
    /// agent's own session id. Ids are found everywhere, names within the project.
    pub(crate) fn resolve(&self, project: &str, text: &str) -> Result<ConversationId, Error> {
        if text == "@" {
            return self
                .newest(project)?
                .ok_or_else(|| Error::not_found("this project has no conversation yet"));
        }
        if looks_like_an_id(text) {
            match find_by_prefix(self.engine.store(), text)?.as_slice() {
                [] => {}
                [one] => return Ok(*one),
                many => {
                    let list: Vec<String> = many.iter().take(8).map(ToString::to_string).collect();
                    return Err(Error::usage(format!(
                        "{text:?} is the beginning of {} conversations: {}; type more of it",
                        many.len(),
                        list.join(", ")
                    )));
                }
            }
        }
        if let Some(id) = self.by_name(project, text)? {
            return Ok(id);
        }
        // An agent's own ids are at least this long; shorter texts would only be found by accident.
        if text.len() >= 16
            && let Some(id) = find_by_session(self.engine.store(), text)?.first()
        {
            return Ok(*id);
        }
        let names = self.names(project)?;
        let hint = suggestion(text, names.into_iter());
        Err(Error::not_found(format!("no conversation {text:?}; `rejoin ls` lists them{hint}")))
    }

    /// Keeps names as they are until the lease is dropped.
    pub(crate) fn lock_names(&self) -> Result<Lease, Error> {
        let owner = Owner {
            pid: std::process::id(),
            started: String::new(),
            command: "rejoin".into(),
            what: "naming a conversation".into(),
        };
        self.engine.locks().acquire("names", &owner, Some(Duration::from_secs(30))).map_err(|error| {
            match error {
                LockError::Busy { owner, .. } => {
                    TurnError::Busy { what: "the list of names".into(), owner }.into()
                }
                LockError::Journal(error) => error.into(),
                LockError::Name { .. } => Error::usage(error.to_string()),
            }
        })
    }

    fn names(&self, project: &str) -> Result<Vec<String>, Error> {
        let listed: Vec<Listed> = self.engine.store().list(Some(project))?;
        Ok(listed.iter().filter_map(|listed| self.name_of(listed.id).ok()?).collect())
    }

    fn name_of(&self, id: ConversationId) -> Result<Option<String>, Error> {
        let mut found = None;
        self.engine.store().search(id, "\"subtype\":\"title\"", &mut |record| {
            if let Ok(envelope) = record.envelope()
                && let Some(System::Title { name }) = envelope.system()
            {
                found = Some(name);
            }
            ControlFlow::Continue(())
        })?;
        Ok(found)
    }
}
