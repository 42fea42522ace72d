//! The ids that a session's turns have here: they follow from the agent's own, so that what was adopted is known again.

use std::collections::HashMap;

use rejoin_core::{ConversationId, MessageId, SessionId, TurnId};

use crate::derived_id::derived_id;

/// The conversation a session becomes.
pub(super) fn conversation(session: &SessionId) -> ConversationId {
    ConversationId::new(derived_id("conversation", &[session.agent().as_str(), session.as_str()]))
}

/// Makes the ids of a session's turns and messages. What the agent calls by one name twice gets two ids.
pub(super) struct Ids<'a> {
    session: &'a SessionId,
    given: HashMap<(&'static str, String), usize>,
}

impl<'a> Ids<'a> {
    pub(super) fn of(session: &'a SessionId) -> Self {
        Self { session, given: HashMap::new() }
    }

    /// The next turn, by the agent's own id of it.
    pub(super) fn turn(&mut self, id: &str) -> TurnId {
        self.next("turn", id)
    }

    /// The next message of a turn, by the agent's own id of it, or of the call it is about.
    pub(super) fn message(&mut self, turn: TurnId, id: &str) -> MessageId {
        self.next("message", &format!("{turn} {id}"))
    }

    fn next(&mut self, what: &'static str, name: &str) -> MessageId {
        let times = self.given.entry((what, name.to_owned())).or_default();
        *times += 1;
        let (agent, session) = (self.session.agent().as_str(), self.session.as_str());
        MessageId::new(derived_id(what, &[agent, session, &times.to_string(), name]))
    }
}
