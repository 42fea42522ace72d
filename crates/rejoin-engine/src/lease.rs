//! One writer at a time, per conversation and per native session; watchers are unlimited.

use std::time::{Duration, Instant};

use rejoin_core::SessionId;
use rejoin_core::plan::Wish;
use rejoin_journal::{Lease, LockError, Owner};

use crate::cancel::CancelWatch;
use crate::scene::Scene;
use crate::scribe::now;
use crate::{Engine, Order, Target, TurnError};

impl Engine {
    /// One writer per conversation.
    pub(crate) fn lease_conversation(
        &self,
        order: &Order,
        cancel: &CancelWatch,
    ) -> Result<Vec<Lease>, TurnError> {
        match order.target {
            Target::Existing(id) if order.wish != Wish::Ephemeral => {
                let what = format!("conversation {}", id.short());
                Ok(vec![self.lease(&format!("conversation-{id}"), what, order, cancel)?])
            }
            _ => Ok(Vec::new()),
        }
    }

    /// One writer per native session, whichever conversation points at it.
    pub(crate) fn lease_session(
        &self,
        order: &Order,
        session: Option<&SessionId>,
        cancel: &CancelWatch,
    ) -> Result<Option<Lease>, TurnError> {
        let Some(session) = session else { return Ok(None) };
        let what = format!("session {} of {}", session.short(), session.agent());
        self.lease(&format!("session-{}-{session}", session.agent()), what, order, cancel).map(Some)
    }

    /// A new conversation is leased before it is there, so that nobody comes between.
    pub(crate) fn lease_new(
        &self,
        order: &Order,
        scene: &Scene,
        cancel: &CancelWatch,
    ) -> Result<Option<Lease>, TurnError> {
        let what = format!("conversation {}", scene.id.short());
        self.lease(&format!("conversation-{}", scene.id), what, order, cancel).map(Some)
    }

    /// Takes a lock, waiting as long as the order says, or until the user gives up.
    fn lease(
        &self,
        name: &str,
        what: String,
        order: &Order,
        cancel: &CancelWatch,
    ) -> Result<Lease, TurnError> {
        let owner = Owner::this_process("rejoin", format!("a turn of {}", order.agent.agent()), now());
        let begun = Instant::now();
        loop {
            let left = order.wait.unwrap_or_default().saturating_sub(begun.elapsed());
            match self.locks().acquire(name, &owner, Some(left.min(ONE_TRY))) {
                Ok(lease) => return Ok(lease),
                Err(LockError::Busy { .. }) if cancel.requests() > 0 => {
                    return Err(TurnError::Cancelled { what });
                }
                Err(LockError::Busy { .. }) if left > ONE_TRY => {}
                Err(LockError::Busy { owner, .. }) => return Err(TurnError::Busy { what, owner }),
                Err(LockError::Journal(error)) => return Err(error.into()),
                Err(error @ LockError::Name { .. }) => return Err(TurnError::Usage(error.to_string())),
            }
        }
    }
}

/// How soon a wait notices that it was given up.
const ONE_TRY: Duration = Duration::from_millis(200);
