//! One writer at a time, per conversation and per native session; watchers are unlimited.

use rejoin_core::SessionId;
use rejoin_core::plan::Wish;
use rejoin_journal::{Lease, LockError, Owner};

use crate::scene::Scene;
use crate::scribe::now;
use crate::{Engine, Order, Target, TurnError};

impl Engine {
    /// One writer per conversation.
    pub(crate) fn lease_conversation(&self, order: &Order) -> Result<Vec<Lease>, TurnError> {
        match order.target {
            Target::Existing(id) if order.wish != Wish::Ephemeral => {
                let what = format!("conversation {}", id.short());
                Ok(vec![self.lease(&format!("conversation-{id}"), what, order)?])
            }
            _ => Ok(Vec::new()),
        }
    }

    /// One writer per native session, whichever conversation points at it.
    pub(crate) fn lease_session(
        &self,
        order: &Order,
        session: Option<&SessionId>,
    ) -> Result<Option<Lease>, TurnError> {
        let Some(session) = session else { return Ok(None) };
        let what = format!("session {} of {}", session.short(), session.agent());
        self.lease(&format!("session-{}-{session}", session.agent()), what, order).map(Some)
    }

    /// A new conversation is leased before it is there, so that nobody comes between.
    pub(crate) fn lease_name(&self, order: &Order, scene: &Scene) -> Result<Option<Lease>, TurnError> {
        let what = format!("conversation {}", scene.id.short());
        self.lease(&format!("conversation-{}", scene.id), what, order).map(Some)
    }

    fn lease(&self, name: &str, what: String, order: &Order) -> Result<Lease, TurnError> {
        let owner = Owner {
            pid: std::process::id(),
            started: now(),
            command: "rejoin".into(),
            what: format!("a turn of {}", order.agent.agent()),
        };
        self.locks().acquire(name, &owner, order.wait).map_err(|error| match error {
            LockError::Busy { owner, .. } => TurnError::Busy { what, owner },
            LockError::Journal(error) => TurnError::Journal(error),
            LockError::Name { .. } => TurnError::Usage(error.to_string()),
        })
    }
}
