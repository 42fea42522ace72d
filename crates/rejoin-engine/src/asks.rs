//! What is asked of a turn that another process runs: a record in its journal, which that process follows.

use rejoin_core::{Asked, AskedQuestion, ConversationId, QuestionAnswer, QuestionState, System, TurnId};
use rejoin_journal::{Loaded, load, questions};

use crate::{Engine, NotAnswered, TurnError};

impl Engine {
    /// Asks whoever runs a turn to stop it. It is heard within a fraction of a second; if nobody runs it,
    /// nothing happens.
    pub fn ask_to_cancel(&self, conversation: ConversationId, turn: TurnId) -> Result<(), TurnError> {
        let loaded = load(self.store(), conversation)?;
        self.note_asked(conversation, loaded, Asked::Cancel { turn })
    }

    /// Gives whoever runs a turn an answer for its agent. The first answer to a question stands: what became of it
    /// is told by the record that the runner writes. What can be no answer by what the journal says is refused.
    pub fn ask_to_answer(
        &self,
        conversation: ConversationId,
        turn: TurnId,
        answer: QuestionAnswer,
    ) -> Result<(), TurnError> {
        let loaded = load(self.store(), conversation)?;
        let asked = match loaded.conversation.tree.turn(turn) {
            Some(turn) => questions(self.store(), conversation, turn, true)?,
            None => Vec::new(),
        };
        let is_it = |asked: &&AskedQuestion| {
            asked.question.id == answer.question && asked.state == QuestionState::Open
        };
        let open = asked.iter().find(is_it).ok_or(NotAnswered::Closed)?;
        open.question.check(&answer).map_err(NotAnswered::from)?;
        self.note_asked(conversation, loaded, Asked::Answer { turn, answer })
    }

    fn note_asked(
        &self,
        conversation: ConversationId,
        loaded: Loaded,
        asked: Asked,
    ) -> Result<(), TurnError> {
        let info = loaded.conversation.info.ok_or_else(|| {
            TurnError::Usage(format!("conversation {} has lost its beginning", conversation.short()))
        })?;
        Ok(self.note(conversation, &info, &[System::Asked(asked)])?)
    }
}
