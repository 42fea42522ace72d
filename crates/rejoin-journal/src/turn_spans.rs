//! Where turns begin and end in a journal, so that whoever reads on in the middle of it need not read all of it to
//! understand the turns that are open there.

use std::collections::HashMap;

use rejoin_core::{ConversationId, Envelope, Kind, System, TurnId};
use serde::{Deserialize, Serialize};

use crate::{JournalError, Store, load};

/// Where to begin reading so that each turn that is open at `place` is met from its first record on: the first record
/// of the earliest of them, or `place` itself if none is. Of a large journal only what is new since the last time is
/// looked at, as by [`load`].
pub fn open_turns_begin(store: &dyn Store, id: ConversationId, place: u64) -> Result<u64, JournalError> {
    if place == 0 {
        return Ok(0);
    }
    Ok(load(store, id)?.spans.open_turns_begin(place))
}

/// The turns of a journal, in the order they begin in it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct TurnSpans {
    spans: Vec<TurnSpan>,
    /// Which of them have no receipt.
    unfinished: HashMap<TurnId, usize>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct TurnSpan {
    /// Where its prompt stands.
    begin: u64,
    /// Where its receipt stands.
    receipt: Option<u64>,
}

impl TurnSpans {
    /// Takes in the next record, which stands at `place`.
    pub(crate) fn apply(&mut self, envelope: &Envelope<'_>, place: u64) {
        match (envelope.kind, envelope.parent_uuid) {
            // A journal can be glued to a copy of itself: a turn that has ended begins there again.
            (Kind::User, _) => {
                self.unfinished.entry(envelope.uuid).or_insert_with(|| {
                    self.spans.push(TurnSpan { begin: place, receipt: None });
                    self.spans.len() - 1
                });
            }
            (Kind::System, Some(turn)) if envelope.subtype.as_deref() == Some("receipt") => {
                let understood = matches!(envelope.system(), Some(System::Receipt(_)));
                let ended = understood.then(|| self.unfinished.remove(&turn)).flatten();
                if let Some(span) = ended.and_then(|at| self.spans.get_mut(at)) {
                    span.receipt = Some(place);
                }
            }
            _ => {}
        }
    }

    fn open_turns_begin(&self, place: u64) -> u64 {
        let mut next_begin = u64::MAX;
        let mut begin = place;
        for span in self.spans.iter().rev() {
            // Nothing is added to a turn that was cut once another has begun: a conversation has one lease.
            let end = span.receipt.unwrap_or(next_begin);
            if span.begin < place && place <= end {
                begin = span.begin;
            }
            next_begin = span.begin;
        }
        begin
    }
}
