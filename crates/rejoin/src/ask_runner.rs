//! What is asked of a turn that another process runs.

use rejoin_core::{ConversationId, QuestionAnswer, TurnId};

use crate::{Error, Rejoin};

impl Rejoin {
    /// Asks whoever runs a turn, in whichever process, to stop it. It is heard within a fraction of a second; if
    /// nobody runs it, nothing happens. In the process that runs it, [`crate::TurnHandle::cancel`] is shorter.
    pub fn ask_to_cancel(&self, conversation: ConversationId, turn: TurnId) -> Result<(), Error> {
        Ok(self.engine.ask_to_cancel(conversation, turn)?)
    }

    /// Gives whoever runs a turn an answer for its agent ([`crate::Question::answered`] and
    /// [`chosen`](crate::Question::chosen) make one). The first answer to a question stands:
    /// [`ConversationView::questions`](crate::ConversationView::questions) tells what became of it.
    pub fn ask_to_answer(
        &self,
        conversation: ConversationId,
        turn: TurnId,
        answer: QuestionAnswer,
    ) -> Result<(), Error> {
        Ok(self.engine.ask_to_answer(conversation, turn, answer)?)
    }
}
