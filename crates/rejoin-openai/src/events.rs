//! What is told to rejoin.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use crate::failure::Failure;

/// The one message of the turn.
const MESSAGE: &str = "m1";

/// Prints events; exactly one end.
#[derive(Clone)]
pub(crate) struct Events(Arc<Mutex<Out>>);

struct Out {
    ended: bool,
    to: Box<dyn Write + Send>,
}

impl Events {
    pub(crate) fn new(to: impl Write + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(Out { ended: false, to: Box::new(to) })))
    }

    pub(crate) fn delta(&self, text: &str) {
        self.print(&json!({ "type": "delta", "message": MESSAGE, "text": text }), false);
    }

    pub(crate) fn thinking(&self, text: &str) {
        self.print(&json!({ "type": "thinking", "message": MESSAGE, "text": text }), false);
    }

    pub(crate) fn message(&self, text: &str, model: &str) {
        self.print(&json!({ "type": "message", "message": MESSAGE, "text": text, "model": model }), false);
    }

    pub(crate) fn retry(&self, text: &str) {
        self.print(&json!({ "type": "retry", "text": text }), false);
    }

    pub(crate) fn warning(&self, code: &str, text: &str) {
        self.print(&json!({ "type": "warning", "name": code, "text": text }), false);
    }

    pub(crate) fn usage(&self, input: u64, cached: u64, output: u64) {
        self.print(&json!({ "type": "usage", "input": input, "cached": cached, "output": output }), false);
    }

    pub(crate) fn end_ok(&self) {
        self.print(&json!({ "type": "end", "ok": true }), true);
    }

    pub(crate) fn end_interrupted(&self) {
        self.print(&json!({ "type": "end", "interrupted": true }), true);
    }

    pub(crate) fn end_failed(&self, failure: &Failure) {
        let end = json!({ "type": "end", "ok": false, "class": failure.class, "message": failure.message });
        self.print(&end, true);
    }

    fn print(&self, event: &Value, is_end: bool) {
        let mut out = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if out.ended {
            return;
        }
        out.ended = is_end;
        // rejoin is gone: nobody is left to be told.
        let _ = writeln!(out.to, "{event}").and_then(|()| out.to.flush());
    }
}
