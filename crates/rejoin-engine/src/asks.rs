//! What is asked of a turn that another process runs: a record in its journal, which that process follows.

use rejoin_core::{Asked, ConversationId, QuestionAnswer, System, TurnId};
use rejoin_journal::load;

use crate::{Engine, TurnError};

impl Engine {
    /// Asks whoever runs a turn to stop it. It is heard within a fraction of a second; if nobody runs it,
    /// nothing happens.
    pub fn ask_to_cancel(&self, conversation: ConversationId, turn: TurnId) -> Result<(), TurnError> {
        self.ask(conversation, Asked::Cancel { turn })
    }

    /// Gives whoever runs a turn an answer for its agent. The first answer to a question stands: what
    /// became of it is told by the record that the runner writes.
    pub fn ask_to_answer(
        &self,
        conversation: ConversationId,
        turn: TurnId,
        answer: QuestionAnswer,
    ) -> Result<(), TurnError> {
        self.ask(conversation, Asked::Answer { turn, answer })
    }

    fn ask(&self, conversation: ConversationId, asked: Asked) -> Result<(), TurnError> {
        let loaded = load(self.store(), conversation)?;
        let info = loaded.conversation.info.ok_or_else(|| {
            TurnError::Usage(format!("conversation {} has lost its beginning", conversation.short()))
        })?;
        Ok(self.note(conversation, &info, &[System::Asked(asked)])?)
    }
}
