//! One writer at a time, per conversation and per native session; watchers are unlimited.

use std::time::{Duration, Instant};

use rejoin_core::SessionId;
use rejoin_core::plan::Wish;
use rejoin_journal::{JournalError, Lease, LockError, Owner, birth};

use crate::cancel::CancelWatch;
use crate::scene::Scene;
use crate::scribe::now;
use crate::supervisor;
use crate::{Engine, Order, Target, TurnError};

/// The leases of one turn.
pub(crate) struct Leases<'a> {
    engine: &'a Engine,
    order: &'a Order,
    cancel: &'a CancelWatch,
    taken: Vec<Lease>,
    /// What the user should know: code and words of warnings.
    notices: Vec<(String, String)>,
}

impl<'a> Leases<'a> {
    pub(crate) fn new(engine: &'a Engine, order: &'a Order, cancel: &'a CancelWatch) -> Self {
        Self { engine, order, cancel, taken: Vec::new(), notices: Vec::new() }
    }

    /// One writer per conversation.
    pub(crate) fn conversation(&mut self) -> Result<(), TurnError> {
        match self.order.target {
            Target::Existing(id) if self.order.wish != Wish::Ephemeral => {
                self.take(&format!("conversation-{id}"), &format!("conversation {}", id.short()))
            }
            _ => Ok(()),
        }
    }

    /// One writer per native session, whichever conversation points at it.
    pub(crate) fn session(&mut self, session: Option<&SessionId>) -> Result<(), TurnError> {
        let Some(session) = session else { return Ok(()) };
        let what = format!("session {} of {}", session.short(), session.agent());
        self.take(&format!("session-{}-{session}", session.agent()), &what)
    }

    /// A new conversation is leased before it is there, so that nobody comes between.
    pub(crate) fn new_conversation(&mut self, scene: &Scene) -> Result<(), TurnError> {
        if !scene.is_new || self.order.wish == Wish::Ephemeral {
            return Ok(());
        }
        self.take(&format!("conversation-{}", scene.id), &format!("conversation {}", scene.id.short()))
    }

    /// All of them, and what to tell about it.
    pub(crate) fn taken(self) -> (Vec<Lease>, Vec<(String, String)>) {
        (self.taken, self.notices)
    }

    /// Takes a lock, waiting as long as the order says, or until the user gives up. What a turn that was
    /// killed together with its supervisor left running is ended first.
    fn take(&mut self, name: &str, what: &str) -> Result<(), TurnError> {
        let owner = Owner::this_process("rejoin", format!("a turn of {}", self.order.agent.agent()), now())
            .marked(self.order.id.to_string());
        let busy = |owner| TurnError::Busy { what: what.to_owned(), owner };
        let begun = Instant::now();
        loop {
            let left = self.order.wait.unwrap_or_default().saturating_sub(begun.elapsed());
            let tried = self.engine.locks().acquire(name, &owner, Some(left.min(ONE_TRY)));
            let tried = tried.map_err(|error| match error {
                LockError::Busy { owner, .. } => busy(owner),
                LockError::Journal(error) => error.into(),
                LockError::Name { .. } => TurnError::Usage(error.to_string()),
            });
            let tried = tried.and_then(|mut lease| match end_left(&mut lease) {
                Ok(ended) => Ok((lease, ended)),
                Err(still) => Err(still.into_error(busy)),
            });
            match tried {
                Ok((lease, ended)) => {
                    self.taken.push(lease);
                    if !ended.is_empty() {
                        let list = supervisor::list_processes(&ended);
                        let text =
                            format!("a turn before was killed; what it left running was ended: {list}");
                        self.notices.push(("leftover".into(), text));
                    }
                    return Ok(());
                }
                Err(TurnError::Busy { .. }) if self.cancel.requests() > 0 => {
                    return Err(TurnError::Cancelled { what: what.to_owned() });
                }
                Err(TurnError::Busy { .. }) if left > ONE_TRY => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// How soon a wait notices that it was given up.
const ONE_TRY: Duration = Duration::from_millis(200);

/// Why a lock cannot be used although it is ours.
#[derive(Debug)]
pub enum Unusable {
    /// A process that a killed holder left cannot be ended.
    StillThere(Box<Owner>),
    /// The lock file could not be written.
    Journal(JournalError),
}

impl Unusable {
    pub(crate) fn into_error(self, busy: impl FnOnce(Option<Box<Owner>>) -> TurnError) -> TurnError {
        match self {
            Self::StillThere(owner) => busy(Some(owner)),
            Self::Journal(error) => error.into(),
        }
    }
}

/// Ends what killed holders of a lock left running, found by what they carry in their environment, and
/// tells number and name of each. As long as one of them lives the lock is in use by it.
pub fn end_left(lease: &mut Lease) -> Result<Vec<(u32, String)>, Unusable> {
    if lease.left().is_empty() {
        return Ok(Vec::new());
    }
    let found = supervisor::end_left(None, lease.left());
    if let Some((pid, name)) = found.alive.first() {
        let what =
            "which a turn that was killed left running, and which cannot be ended from here".to_owned();
        let (pid, command) = (*pid, name.clone());
        let owner = Owner { pid, born: birth(pid), command, what, ..Owner::default() };
        return Err(Unusable::StillThere(Box::new(owner)));
    }
    lease.nothing_is_left().map_err(Unusable::Journal)?;
    Ok(found.ended)
}
