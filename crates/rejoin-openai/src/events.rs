//! What is told to rejoin.

use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use crate::failure::Failure;

/// The one message of the turn.
const MESSAGE: &str = "m1";

/// What an event is part of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Answer,
    Talk,
    End,
}

/// Prints events; exactly one end.
#[derive(Clone)]
pub(crate) struct Events(Arc<Mutex<Out>>);

struct Out {
    ended: bool,
    /// Something of an answer was told.
    answered: bool,
    to: Box<dyn Write + Send>,
}

impl Events {
    pub(crate) fn new(to: impl Write + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(Out { ended: false, answered: false, to: Box::new(to) })))
    }

    /// Whether something of an answer was told: asked again, it would be told twice.
    pub(crate) fn answered(&self) -> bool {
        self.out().answered
    }

    pub(crate) fn delta(&self, text: &str) {
        self.print(&json!({ "type": "delta", "message": MESSAGE, "text": text }), What::Answer);
    }

    pub(crate) fn thinking(&self, text: &str) {
        self.print(&json!({ "type": "thinking", "message": MESSAGE, "text": text }), What::Answer);
    }

    pub(crate) fn message(&self, text: &str, model: &str) {
        self.print(
            &json!({ "type": "message", "message": MESSAGE, "text": text, "model": model }),
            What::Answer,
        );
    }

    pub(crate) fn retry(&self, text: &str) {
        self.print(&json!({ "type": "retry", "text": text }), What::Talk);
    }

    pub(crate) fn warning(&self, code: &str, text: &str) {
        self.print(&json!({ "type": "warning", "name": code, "text": text }), What::Answer);
    }

    pub(crate) fn usage(&self, input: u64, cached: u64, output: u64) {
        self.print(
            &json!({ "type": "usage", "input": input, "cached": cached, "output": output }),
            What::Answer,
        );
    }

    pub(crate) fn end_ok(&self) {
        self.print(&json!({ "type": "end", "ok": true }), What::End);
    }

    pub(crate) fn end_interrupted(&self) {
        self.print(&json!({ "type": "end", "interrupted": true }), What::End);
    }

    pub(crate) fn end_failed(&self, failure: &Failure) {
        let end = json!({ "type": "end", "ok": false, "class": failure.class, "message": failure.message });
        self.print(&end, What::End);
    }

    fn print(&self, event: &Value, what: What) {
        let mut out = self.out();
        if out.ended {
            return;
        }
        out.ended = what == What::End;
        out.answered |= what == What::Answer;
        // rejoin is gone: nobody is left to be told.
        let _ = writeln!(out.to, "{event}").and_then(|()| out.to.flush());
    }

    fn out(&self) -> MutexGuard<'_, Out> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
