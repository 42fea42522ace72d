//! One writer at a time, per conversation and per native session; watchers are unlimited.

use std::time::{Duration, Instant};

use rejoin_core::plan::Wish;
use rejoin_core::{ConversationId, SessionId, TurnId};
use rejoin_journal::{JournalError, Lease, LeaseName, LockError, Owner, Writer, birth};

use crate::before::context::TurnContext;
use crate::during::cancel::CancelWatch;
use crate::during::record_writer::now;
use crate::supervisor;
use crate::{Engine, Order, Target, TurnError};

/// The leases of one turn.
pub(crate) struct TurnLeases<'a> {
    engine: &'a Engine,
    order: &'a Order,
    cancel: &'a CancelWatch,
    taken: Vec<Lease>,
    /// What the user should know: code and words of warnings.
    notices: Vec<(String, String)>,
}

/// A lease on a conversation, taken before the order of a turn is made: what the order depends on must
/// not change in between.
pub struct EarlyLease(Taken);

impl EarlyLease {
    /// As what is written under it before the turn: refused once the lease is gone.
    pub fn writer(&self) -> Writer {
        Writer::Turn(self.0.lease.token().clone())
    }
}

/// A lock that was taken, and what its last holder had left running and was ended.
struct Taken {
    lease: Lease,
    ended: Vec<(u32, String)>,
}

impl Engine {
    /// Leases a conversation for a turn that is not described yet.
    pub fn lease_early(
        &self,
        id: ConversationId,
        turn: TurnId,
        wait: Option<Duration>,
        cancel: &CancelWatch,
    ) -> Result<EarlyLease, TurnError> {
        let what = format!("conversation {}", id.short());
        let owner = owner("a turn").marked(turn.to_string());
        self.take(&LeaseName::conversation(id), &what, &owner, wait, cancel).map(EarlyLease)
    }

    /// Takes a lock, waiting as long as was asked, or until the user gives up. What a turn that was
    /// killed together with its supervisor left running is ended first.
    fn take(
        &self,
        name: &LeaseName,
        what: &str,
        owner: &Owner,
        wait: Option<Duration>,
        cancel: &CancelWatch,
    ) -> Result<Taken, TurnError> {
        let busy = |owner| TurnError::Busy { what: what.to_owned(), owner };
        let begun = Instant::now();
        loop {
            let left = wait.unwrap_or_default().saturating_sub(begun.elapsed());
            let tried = self.leases().acquire(name, owner, Some(left.min(ONE_TRY)));
            let tried = tried.map_err(|error| match error {
                LockError::Busy { owner, .. } => busy(owner),
                LockError::Journal(error) => error.into(),
                LockError::Name { .. } => TurnError::Usage(error.to_string()),
            });
            let tried = tried.and_then(|mut lease| match end_left(&mut lease) {
                Ok(ended) => Ok(Taken { lease, ended }),
                Err(still) => Err(still.into_error(busy)),
            });
            match tried {
                Err(TurnError::Busy { .. }) if cancel.requests() > 0 => {
                    return Err(TurnError::Cancelled { what: what.to_owned() });
                }
                Err(TurnError::Busy { .. }) if left > ONE_TRY => {}
                tried => return tried,
            }
        }
    }
}

impl<'a> TurnLeases<'a> {
    pub(crate) fn new(engine: &'a Engine, order: &'a Order, cancel: &'a CancelWatch) -> Self {
        Self { engine, order, cancel, taken: Vec::new(), notices: Vec::new() }
    }

    /// One writer per conversation.
    pub(crate) fn conversation(&mut self, early: Option<EarlyLease>) -> Result<(), TurnError> {
        if let Some(EarlyLease(taken)) = early {
            // Now it is known whose turn it is.
            taken.lease.set_owner(&self.owner())?;
            self.put(taken);
            return Ok(());
        }
        match self.order.target {
            Target::Existing(id) if self.order.wish != Wish::Ephemeral => {
                self.take(&LeaseName::conversation(id), &format!("conversation {}", id.short()))
            }
            _ => Ok(()),
        }
    }

    /// One writer per native session, whichever conversation points at it.
    pub(crate) fn session(&mut self, session: Option<&SessionId>) -> Result<(), TurnError> {
        let Some(session) = session else { return Ok(()) };
        let what = format!("session {} of {}", session.short(), session.agent());
        self.take(&LeaseName::session(session), &what)
    }

    /// A new conversation is leased before it is there, so that nobody comes between.
    pub(crate) fn new_conversation(&mut self, context: &TurnContext) -> Result<(), TurnError> {
        if !context.is_new || self.order.wish == Wish::Ephemeral {
            return Ok(());
        }
        self.take(&LeaseName::conversation(context.id), &format!("conversation {}", context.id.short()))
    }

    /// All of them, and what to tell about it.
    pub(crate) fn taken(self) -> (Vec<Lease>, Vec<(String, String)>) {
        (self.taken, self.notices)
    }

    fn take(&mut self, name: &LeaseName, what: &str) -> Result<(), TurnError> {
        let taken = self.engine.take(name, what, &self.owner(), self.order.wait, self.cancel)?;
        self.put(taken);
        Ok(())
    }

    fn put(&mut self, taken: Taken) {
        self.taken.push(taken.lease);
        if !taken.ended.is_empty() {
            let list = supervisor::list_processes(&taken.ended);
            let text = format!("a turn before was killed; what it left running was ended: {list}");
            self.notices.push(("leftover".into(), text));
        }
    }

    fn owner(&self) -> Owner {
        owner(&format!("a turn of {}", self.order.agent.agent())).marked(self.order.id.to_string())
    }
}

/// What those who have to wait are told.
pub(crate) fn owner(what: &str) -> Owner {
    Owner::this_process("rejoin", what, now())
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
