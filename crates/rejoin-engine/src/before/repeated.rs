//! A turn that was asked for already, found by the key of its request.

use std::ops::ControlFlow;

use rejoin_core::plan::Wish;
use rejoin_core::{ConversationId, Kind, RequestKey, TurnId};
use rejoin_journal::JournalError;

use crate::{Engine, Order, Target, TurnError};

impl Engine {
    /// The turn of a conversation that was asked for with this key, and the request it was asked for by.
    pub fn turn_of_request(
        &self,
        conversation: ConversationId,
        key: &str,
    ) -> Result<Option<(TurnId, RequestKey)>, TurnError> {
        let mut found = None;
        // As it stands in a line; in words that were said, the quotes are written otherwise.
        let text = serde_json::Value::from(key).to_string();
        let searched = self.store.search(conversation, &text, &mut |record| {
            let Ok(record) = record.record() else { return ControlFlow::Continue(()) };
            let turn = record.uuid;
            let request = record.request.filter(|request| record.kind == Kind::User && request.key == key);
            found = request.map(|request| (turn, request));
            if found.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        match searched {
            // One that is yet to begin.
            Ok(()) | Err(JournalError::NotFound { .. }) => Ok(found),
            Err(error) => Err(error.into()),
        }
    }

    /// Refuses a request whose key stands in a conversation already: [`TurnError::AlreadyAsked`] names the turn.
    pub fn refuse_repeated(
        &self,
        conversation: ConversationId,
        request: &RequestKey,
    ) -> Result<(), TurnError> {
        let Some((turn, before)) = self.turn_of_request(conversation, &request.key)? else { return Ok(()) };
        let key = before.key;
        if before.digest == request.digest {
            Err(TurnError::AlreadyAsked { key, conversation, turn })
        } else {
            Err(TurnError::KeyReused { key, conversation, turn })
        }
    }

    /// The same for an order. A key that stands nowhere yet may be written by somebody else until the conversation is
    /// leased.
    pub(crate) fn check_request(&self, order: &Order) -> Result<(), TurnError> {
        let Some(request) = &order.request else { return Ok(()) };
        request.check().map_err(|error| TurnError::Usage(error.to_string()))?;
        if order.wish == Wish::Ephemeral {
            let words = "an ephemeral turn is not kept, so nobody could tell that it was asked for already: leave the key out";
            return Err(TurnError::Usage(words.into()));
        }
        let (Target::New { id, .. } | Target::Existing(id)) = &order.target;
        self.refuse_repeated(*id, request)
    }
}
