//! The way of an answer from whoever watches to the agent that asked, and which questions still wait for one.

use std::collections::HashSet;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rejoin_agents::Answer;
use rejoin_core::{Question, QuestionAnswer};

use crate::Canceller;

/// Answers on their way to the agent.
#[derive(Clone)]
pub(crate) struct AnswerBox {
    answers: Arc<Mutex<Vec<(String, Given)>>>,
    open: Arc<Mutex<HashSet<String>>>,
    wake: Canceller,
}

/// An answer, and where it was given.
pub(crate) enum Given {
    /// In this process.
    Here(Answer),
    /// In another one, which wrote it into the journal.
    Elsewhere(QuestionAnswer),
}

impl AnswerBox {
    /// A box that wakes the turn by the same socket that stops it.
    pub(crate) fn new(wake: Canceller) -> Self {
        Self { answers: Arc::default(), open: Arc::default(), wake }
    }

    /// An agent waits for an answer.
    pub(crate) fn open(&self, question: &str) {
        self.questions().insert(question.to_owned());
    }

    /// It no longer does.
    pub(crate) fn close(&self, question: &str) {
        self.questions().remove(question);
    }

    /// Nobody does.
    pub(crate) fn close_all(&self) {
        self.questions().clear();
    }

    pub(crate) fn is_open(&self, question: &str) -> bool {
        self.questions().contains(question)
    }

    fn questions(&self) -> MutexGuard<'_, HashSet<String>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn put(&self, question: String, answer: Given) {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).push((question, answer));
        self.wake.wake();
    }

    pub(crate) fn take(&self) -> Vec<(String, Given)> {
        std::mem::take(&mut *self.answers.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A question as it is put to somebody, who may find that it no longer matters.
pub struct OpenQuestion<'a> {
    pub(crate) question: &'a Question,
    pub(crate) answers: &'a AnswerBox,
}

impl OpenQuestion<'_> {
    /// Whether the agent still waits for an answer; not if it took the question back, or ended.
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
