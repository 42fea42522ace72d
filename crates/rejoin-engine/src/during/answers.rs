//! The way of an answer from whoever watches to the agent that asked, and which questions still wait for one.

use std::collections::HashSet;
use std::io::{Read, Write};
use std::ops::Deref;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rejoin_agents::Answer;
use rejoin_core::Question;

/// Answers on their way from the watcher to the agent.
#[derive(Clone)]
pub(crate) struct AnswerBox {
    answers: Arc<Mutex<Vec<(String, Answer)>>>,
    open: Arc<Mutex<HashSet<String>>>,
    wake: Arc<(UnixStream, UnixStream)>,
}

impl AnswerBox {
    pub(crate) fn new() -> std::io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        theirs.set_nonblocking(true)?;
        Ok(Self { answers: Arc::default(), open: Arc::default(), wake: Arc::new((ours, theirs)) })
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

    fn is_open(&self, question: &str) -> bool {
        self.questions().contains(question)
    }

    fn questions(&self) -> MutexGuard<'_, HashSet<String>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn put(&self, question: String, answer: Answer) {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).push((question, answer));
        let _ = (&self.wake.1).write(&[1]);
    }

    pub(crate) fn take(&self) -> Vec<(String, Answer)> {
        let _ = (&self.wake.0).read(&mut [0; 64]);
        std::mem::take(&mut *self.answers.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl AsFd for AnswerBox {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.wake.0.as_fd()
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
