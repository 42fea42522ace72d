//! The way of an answer from whoever watches to the agent that asked, and which questions still wait for one.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rejoin_agents::Answer;
use rejoin_core::{AnsweredBy, Question, QuestionAnswer, UnfitAnswer};

use crate::Canceller;

/// Answers on their way to the agent.
#[derive(Clone)]
pub(crate) struct AnswerBox {
    waiting: Arc<Mutex<Waiting>>,
    wake: Canceller,
}

#[derive(Default)]
struct Waiting {
    /// Questions that nobody has answered yet.
    open: HashMap<String, Question>,
    /// What the agent is still to be told.
    given: Vec<QuestionAnswer>,
}

/// Why an answer was not taken.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotAnswered {
    /// It was never asked, is answered, was taken back by the agent, or its turn is over.
    #[error("the agent does not wait for an answer to this question")]
    Closed,
    /// It is no answer to that question, which stays open.
    #[error(transparent)]
    Unfit(#[from] UnfitAnswer),
}

impl AnswerBox {
    /// A box that wakes the turn by the same socket that stops it.
    pub(crate) fn new(wake: Canceller) -> Self {
        Self { waiting: Arc::default(), wake }
    }

    /// An agent waits for an answer.
    pub(crate) fn open(&self, question: Question) {
        self.waiting().open.insert(question.id.clone(), question);
    }

    /// It no longer does; the question, if nobody had answered it.
    pub(crate) fn close(&self, question: &str) -> Option<Question> {
        self.waiting().open.remove(question)
    }

    /// Nobody does.
    pub(crate) fn close_all(&self) {
        self.waiting().open.clear();
    }

    pub(crate) fn is_open(&self, question: &str) -> bool {
        self.waiting().open.contains_key(question)
    }

    /// Takes an answer of this process: the first that fits closes its question.
    pub(crate) fn give(&self, question: &str, answer: Answer, who: Option<&str>) -> Result<(), NotAnswered> {
        self.put(question, |question| QuestionAnswer {
            who: who.map(str::to_owned),
            ..answer.resolved(question).record(question, AnsweredBy::User)
        })
    }

    /// The same for one of another process, which wrote it into the journal.
    pub(crate) fn hear(&self, answer: QuestionAnswer) -> Result<(), NotAnswered> {
        let id = answer.question.clone();
        self.put(&id, |question| QuestionAnswer {
            who: answer.who.clone(),
            ..Answer::from(answer).resolved(question).record(question, AnsweredBy::User)
        })
    }

    fn put(&self, id: &str, record: impl FnOnce(&Question) -> QuestionAnswer) -> Result<(), NotAnswered> {
        let mut waiting = self.waiting();
        let question = waiting.open.get(id).ok_or(NotAnswered::Closed)?;
        let answer = record(question);
        question.check(&answer)?;
        waiting.open.remove(id);
        waiting.given.push(answer);
        drop(waiting);
        self.wake.wake();
        Ok(())
    }

    pub(crate) fn take(&self) -> Vec<QuestionAnswer> {
        std::mem::take(&mut self.waiting().given)
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A question as it is put to somebody, who may find that it no longer matters.
pub struct OpenQuestion<'a> {
    pub(crate) question: &'a Question,
    pub(crate) answers: &'a AnswerBox,
}

impl OpenQuestion<'_> {
    /// Whether the agent still waits for an answer; not if it has one, took the question back, or ended.
    pub fn is_open(&self) -> bool {
        self.answers.is_open(&self.question.id)
    }
}

impl Deref for OpenQuestion<'_> {
    type Target = Question;

    fn deref(&self) -> &Question {
        self.question
    }
}
