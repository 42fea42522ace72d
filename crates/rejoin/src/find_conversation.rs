//! From what a person types to the conversation that is meant.

use std::time::Duration;

use rejoin_core::ConversationId;
use rejoin_engine::TurnError;
use rejoin_index::Index;
use rejoin_journal::{Lease, LeaseName, LockError, Owner, find_by_prefix, find_by_session};

use crate::config::suggestion;
use crate::name::{looks_like_an_id, steps_back};
use crate::{Error, Rejoin, one_line};

impl Rejoin {
    /// The conversation of a project that was used last, or one before it.
    pub(crate) fn newest(
        index: &mut Index<'_>,
        project: &str,
        before: usize,
    ) -> Result<Option<ConversationId>, Error> {
        let newest = index.newest(project, before)?;
        // One that cannot be read may be the one that is meant.
        index.take_error().map_or(Ok(newest), |error| Err(error.into()))
    }

    /// The conversation of that name in a project. Several can have come by one, moved or imported.
    pub(crate) fn by_name(
        index: &mut Index<'_>,
        project: &str,
        name: &str,
    ) -> Result<Option<ConversationId>, Error> {
        let names = index.names(project)?;
        if let Some(error) = index.take_error() {
            return Err(error.into());
        }
        let found: Vec<ConversationId> =
            names.into_iter().filter(|(known, _)| known == name).map(|(_, id)| id).collect();
        match found.as_slice() {
            [] => Ok(None),
            [one] => Ok(Some(*one)),
            many => Err(several_called(index, name, many)),
        }
    }

    /// The conversation meant by an id, a unique prefix of one, a name, `@` (the newest here), `@~1`
    /// (the one before it), or an agent's own session id. Ids are found everywhere, names within
    /// the project.
    pub(crate) fn resolve(
        &self,
        index: &mut Index<'_>,
        project: &str,
        text: &str,
    ) -> Result<ConversationId, Error> {
        if let Some(before) = steps_back(text)? {
            let newest = match Self::newest(index, project, before)? {
                Some(newest) => Some(newest),
                None => self.newest_of_former(index, project, before)?,
            };
            return newest.ok_or_else(|| {
                Error::not_found(match before {
                    0 => "this project has no conversation yet".to_owned(),
                    _ => format!(
                        "this project has fewer than {} conversations; `rejoin ls` lists them",
                        before + 1
                    ),
                })
            });
        }
        if looks_like_an_id(text) {
            match find_by_prefix(self.engine.store(), text)?.as_slice() {
                [] => {}
                [one] => return Ok(*one),
                many => return Err(ambiguous(index, text, many)),
            }
        }
        if let Some(id) = Self::by_name(index, project, text)? {
            return Ok(id);
        }
        // A short beginning of an id, where no name is meant.
        match find_by_prefix(self.engine.store(), text)?.as_slice() {
            [] => {}
            [one] => return Ok(*one),
            many => return Err(ambiguous(index, text, many)),
        }
        // An agent's own ids are at least this long; shorter texts would only be found by accident.
        if text.len() >= 16
            && let Some(id) = find_by_session(self.engine.store(), text)?.first()
        {
            return Ok(*id);
        }
        if let Some(id) = self.named_in_former(index, project, text)? {
            return Ok(id);
        }
        let names = index.names(project)?;
        let hint = suggestion(text, names.into_iter().map(|(name, _)| name));
        Err(Error::not_found(format!("no conversation {text:?}; `rejoin ls` lists them{hint}")))
    }

    /// A conversation by its id, which must be there.
    pub(crate) fn known(&self, id: ConversationId) -> Result<ConversationId, Error> {
        self.engine.store().fetch(id, &[0], &mut |_, _| {})?;
        Ok(id)
    }

    /// Keeps names as they are until the lease is dropped.
    pub(crate) fn lock_names(&self) -> Result<Lease, Error> {
        self.lock(&LeaseName::names(), "naming a conversation", "the list of names")
    }

    /// Keeps others from beginning a conversation because a project has none to continue.
    pub(crate) fn lock_beginning(&self, project: &str) -> Result<Lease, Error> {
        self.lock(
            &LeaseName::beginning_in(project),
            "beginning a conversation",
            "the first conversation of this project",
        )
    }

    fn lock(&self, name: &LeaseName, doing: &str, what: &str) -> Result<Lease, Error> {
        let owner = Owner::this_process("rejoin", doing, "");
        self.engine.leases().acquire(name, &owner, Some(Duration::from_secs(30))).map_err(|error| match error
        {
            LockError::Busy { owner, .. } => TurnError::Busy { what: what.to_owned(), owner }.into(),
            LockError::Journal(error) => error.into(),
            LockError::Name { .. } => Error::usage(error.to_string()),
        })
    }
}

/// Candidates, a line each.
fn listed(index: &mut Index<'_>, candidates: &[ConversationId]) -> String {
    let shown = |id: &ConversationId| {
        let summary = index.summary(*id).ok().flatten();
        let title = summary.map(|summary| match summary.name {
            Some(name) => format!("{name}: {}", summary.title),
            None => summary.title,
        });
        let title = title.unwrap_or_default();
        format!("\n  {id}  {}", one_line(&title, 60))
    };
    candidates.iter().take(8).map(shown).collect()
}

pub(crate) fn several_called(index: &mut Index<'_>, name: &str, many: &[ConversationId]) -> Error {
    let list = listed(index, many);
    let next = "name it by its id, or rename one (`rejoin name ID NAME`)";
    Error::usage(format!("{} conversations are called {name:?}; {next}:{list}", many.len()))
}

fn ambiguous(index: &mut Index<'_>, text: &str, candidates: &[ConversationId]) -> Error {
    Error::usage(format!(
        "{text:?} is the beginning of {} conversations; type more of it:{}",
        candidates.len(),
        listed(index, candidates)
    ))
}
