//! Where a conversation came from, told by what stands outside of its journal.

use std::time::SystemTime;

use rejoin_core::{Conversation, ConversationId, Origin, SaidHere};
use rejoin_journal::{KnownOrigin, Origins, Store};

use crate::{Engine, TurnError};

/// The origin of a conversation, and whether it stands in the home already.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Found {
    pub(crate) origin: Origin,
    pub(crate) noted: bool,
}

impl Engine {
    /// Where the conversations of this home came from.
    pub fn origins(&self) -> Origins {
        self.home.origins()
    }

    /// Where a conversation came from. What nobody knows came from elsewhere.
    pub fn origin(&self, id: ConversationId, conversation: &Conversation) -> Result<Origin, TurnError> {
        Ok(self.find_origin(id, conversation)?.origin)
    }

    pub(crate) fn find_origin(
        &self,
        id: ConversationId,
        conversation: &Conversation,
    ) -> Result<Found, TurnError> {
        let ours = match self.origins().known(id)? {
            // What says nothing of pins is damaged: none of them counts.
            KnownOrigin::Noted(Origin::Elsewhere(said)) if said.home.is_empty() => {
                let origin = Origin::Elsewhere(SaidHere { home: self.unknown_home().home, ..said });
                return Ok(Found { origin, noted: false });
            }
            KnownOrigin::Noted(origin) => return Ok(Found { origin, noted: true }),
            KnownOrigin::Nothing => self.drafts,
            KnownOrigin::Before => self.was_ours_before(id, conversation),
        };
        let origin = if ours { Origin::Here } else { Origin::Elsewhere(self.unknown_home()) };
        Ok(Found { origin, noted: false })
    }

    /// Nothing said; and pins get a name of their own, which nothing that was brought along can know.
    pub fn unknown_home(&self) -> SaidHere {
        SaidHere { home: uuid::Uuid::new_v4().to_string(), ..SaidHere::default() }
    }

    /// Of journals from before origins were noted, those are ours whose pins name this home and no
    /// other. One without a pin is ours if its file was made when its first record was written: an
    /// import makes it later.
    fn was_ours_before(&self, id: ConversationId, conversation: &Conversation) -> bool {
        let home = self.home.id();
        if conversation.pins.is_empty() {
            return self.was_begun_here(id).unwrap_or(false);
        }
        !home.is_empty() && conversation.pins.iter().all(|pin| pin.home == home)
    }

    fn was_begun_here(&self, id: ConversationId) -> Option<bool> {
        let store = self.home.store();
        let mut written = None;
        let first = |_, raw: Result<rejoin_journal::RawRecord<'_>, _>| {
            let record = raw.ok().and_then(|raw| raw.record().ok());
            written = record.and_then(|record| record.timestamp.parse::<jiff::Timestamp>().ok());
        };
        store.fetch(id, &[0], &mut { first }).ok()?;
        let made = store.path(id).ok()?.metadata().ok()?.created().ok()?;
        let apart = made.duration_since(SystemTime::from(written?)).ok()?;
        Some(apart.as_secs() < 5)
    }
}
