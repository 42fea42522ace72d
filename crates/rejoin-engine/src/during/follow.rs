//! What others ask of a turn by its journal: records that they append, and that whoever runs it hears of.

use std::sync::Arc;

use rejoin_core::{Asked, ConversationId, Envelope, System, TurnId};
use rejoin_journal::Store;

use crate::Canceller;
use crate::during::answers::AnswerBox;
use crate::during::record_writer::RecordWriter;

/// Looks at what others appended to the journal of a turn.
pub(crate) struct Follow {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) conversation: ConversationId,
    pub(crate) turn: TurnId,
    pub(crate) canceller: Canceller,
    pub(crate) answers: AnswerBox,
}

impl Follow {
    /// Passes on what was asked for since the last look.
    pub(crate) fn look(&self, writer: &mut RecordWriter) {
        for foreign in writer.written_by_others() {
            // What cannot be read now is read by whoever looks at the conversation next.
            let _ = self.store.read(self.conversation, foreign.start, &mut |entry| {
                if entry.place < foreign.end
                    && let Ok(envelope) = &entry.content
                {
                    self.hear(envelope);
                }
            });
        }
    }

    fn hear(&self, envelope: &Envelope<'_>) {
        match envelope.system() {
            Some(System::Asked(Asked::Cancel { turn })) if turn == self.turn => self.canceller.cancel(),
            Some(System::Asked(Asked::Answer { turn, answer })) if turn == self.turn => {
                // One that comes too late or does not fit is none; its question stays as it was.
                let _ = self.answers.hear(answer);
            }
            _ => {}
        }
    }
}
