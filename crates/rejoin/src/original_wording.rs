//! What stood in a turn before it was amended: old wordings stay in the journal.

use std::collections::HashMap;

use rejoin_core::{MessageId, Part, System, Turn};
use rejoin_journal::messages;

use crate::{ConversationView, Error};

impl ConversationView<'_> {
    /// The first wording of each message of a turn that was amended; texts longer than `limit` bytes are cut, visibly.
    pub(crate) fn original_wordings(
        &self,
        turn: &Turn,
        limit: usize,
    ) -> Result<HashMap<MessageId, Vec<Part>>, Error> {
        // Most turns never were, and then nothing need be read.
        if turn.revision == 0 {
            return Ok(HashMap::new());
        }
        let store = self.rejoin.engine.store();
        let (mut amended, mut spoken) = (Vec::new(), Vec::new());
        store.fetch(self.id, &turn.records, &mut |place, raw| {
            let system = raw.and_then(|raw| raw.envelope()).ok().and_then(|envelope| envelope.system());
            match system {
                Some(System::Amendment { target, .. }) => amended.push(target),
                _ => spoken.push(place),
            }
        })?;
        let before = Turn { records: spoken, ..turn.clone() };
        let said = messages(store, self.id, &before, limit)?.messages;
        let was_amended = said.into_iter().filter(|message| amended.contains(&message.id));
        Ok(was_amended.map(|message| (message.id, message.parts)).collect())
    }
}
