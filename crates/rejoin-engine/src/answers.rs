//! The way of an answer from whoever watches to the agent that asked.

use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};

use rejoin_agents::Answer;

/// Answers on their way from the watcher to the agent.
#[derive(Clone)]
pub(crate) struct AnswerBox {
    answers: Arc<Mutex<Vec<(String, Answer)>>>,
    wake: Arc<(UnixStream, UnixStream)>,
}

impl AnswerBox {
    pub(crate) fn new() -> std::io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        theirs.set_nonblocking(true)?;
        Ok(Self { answers: Arc::default(), wake: Arc::new((ours, theirs)) })
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
