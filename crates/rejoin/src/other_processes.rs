//! What another process does in a conversation: watched, and asked of it.

use rejoin_core::{ConversationId, QuestionAnswer, TurnId};
use rejoin_engine::ConversationWatch;
use rejoin_journal::Cursor;

use crate::{Error, Rejoin};

impl Rejoin {
    /// Watches a conversation, whichever process runs its turns: what was, from the beginning or from a cursor that
    /// was kept, and then what comes, for as long as one likes. A cursor that is not of this journal is an error
    /// ([`JournalError::Diverged`](crate::JournalError::Diverged)), and never a guess.
    ///
    /// ```no_run
    /// # use rejoin::Rejoin;
    /// # fn main() -> Result<(), rejoin::Error> {
    /// let rejoin = Rejoin::open()?;
    /// let conversation = rejoin.view(".".as_ref(), "release")?.id();
    /// for happened in rejoin.watch(conversation, None)? {
    ///     let happened = happened?;
    ///     println!("{} {:?}: {:?}", happened.time, happened.turn, happened.told);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn watch(
        &self,
        conversation: ConversationId,
        after: Option<Cursor>,
    ) -> Result<ConversationWatch, Error> {
        Ok(self.engine.watch(conversation, after)?)
    }

    /// Asks whoever runs a turn, in whichever process, to stop it. It is heard within a fraction of a second; if
    /// nobody runs it, nothing happens. In the process that runs it, [`crate::TurnHandle::cancel`] is shorter.
    pub fn ask_to_cancel(&self, conversation: ConversationId, turn: TurnId) -> Result<(), Error> {
        Ok(self.engine.ask_to_cancel(conversation, turn)?)
    }

    /// Gives whoever runs a turn an answer for its agent ([`crate::Question::answered`] and
    /// [`chosen`](crate::Question::chosen) make one). The first answer to a question stands:
    /// [`ConversationView::questions`](crate::ConversationView::questions) tells what became of it. What can be no
    /// answer by what the journal says is refused ([`TurnError::NotAnswered`](crate::TurnError::NotAnswered)).
    pub fn ask_to_answer(
        &self,
        conversation: ConversationId,
        turn: TurnId,
        answer: QuestionAnswer,
    ) -> Result<(), Error> {
        Ok(self.engine.ask_to_answer(conversation, turn, answer)?)
    }
}
