//! The message Claude is writing: which id it has here, and how far its text goes.

use std::collections::VecDeque;

use rejoin_core::{Event, MessageId};

use crate::{IdSource, Step};

/// The current message of the conversation.
pub(super) struct Messages {
    ids: IdSource,
    current: Option<Current>,
    said: bool,
}

struct Current {
    native: String,
    id: MessageId,
    /// Bytes of text in finished blocks.
    finished: usize,
    /// Bytes streamed of each block that is not finished.
    streamed: VecDeque<usize>,
    /// The thinking was streamed: its finished block says nothing new.
    thought: bool,
}

impl Messages {
    pub(super) fn new(ids: IdSource) -> Self {
        Self { ids, current: None, said: false }
    }

    /// Whether any text was said.
    pub(super) fn said(&self) -> bool {
        self.said
    }

    /// An id for a message that is none of Claude's own.
    pub(super) fn another(&mut self) -> MessageId {
        (self.ids)()
    }

    /// A message begins, or goes on.
    pub(super) fn begin(&mut self, native: &str, out: &mut Vec<Step>) -> MessageId {
        if let Some(current) = &self.current
            && current.native == native
        {
            return current.id;
        }
        self.withdraw(out);
        let id = (self.ids)();
        self.current = Some(Current {
            native: native.to_owned(),
            id,
            finished: 0,
            streamed: VecDeque::new(),
            thought: false,
        });
        id
    }

    /// Another message began although this one was not finished: its stream broke, and Claude asks
    /// again without saying so. What was streamed of it is no part of the answer.
    fn withdraw(&mut self, out: &mut Vec<Step>) {
        if let Some(current) = self.current.take()
            && current.streamed.iter().any(|bytes| *bytes > 0)
        {
            out.push(Step::Emit(Event::Message {
                message: current.id,
                offset: current.finished,
                text: String::new(),
                model: None,
                native: Some(current.native),
            }));
        }
    }

    /// A block of text begins.
    pub(super) fn begin_text(&mut self) {
        if let Some(current) = &mut self.current {
            current.streamed.push_back(0);
        }
    }

    /// A piece of text.
    pub(super) fn stream_text(&mut self, text: String, out: &mut Vec<Step>) {
        let Some(current) = self.current.as_mut().filter(|_| !text.is_empty()) else {
            return;
        };
        let offset = current.finished + current.streamed.iter().sum::<usize>();
        match current.streamed.back_mut() {
            Some(bytes) => *bytes += text.len(),
            None => current.streamed.push_back(text.len()),
        }
        self.said = true;
        out.push(Step::Emit(Event::TextDelta { message: current.id, offset, text }));
    }

    /// A finished block of text of the message that was begun last.
    pub(super) fn finish_text(&mut self, text: String, model: Option<String>, out: &mut Vec<Step>) {
        let Some(current) = &mut self.current else {
            return;
        };
        let streamed = current.streamed.pop_front().unwrap_or(0);
        if text.is_empty() && streamed == 0 {
            return;
        }
        let offset = current.finished;
        current.finished += text.len();
        self.said = true;
        let native = Some(current.native.clone()).filter(|native| !native.is_empty());
        out.push(Step::Emit(Event::Message { message: current.id, offset, text, model, native }));
    }

    /// A piece of thinking.
    pub(super) fn stream_thinking(&mut self, text: String, out: &mut Vec<Step>) {
        let Some(current) = self.current.as_mut().filter(|_| !text.is_empty()) else {
            return;
        };
        current.thought = true;
        out.push(Step::Emit(Event::Thinking { message: current.id, text }));
    }

    /// A finished block of thinking.
    pub(super) fn finish_thinking(&mut self, text: String, out: &mut Vec<Step>) {
        let Some(current) = &mut self.current else {
            return;
        };
        let streamed = std::mem::take(&mut current.thought);
        if !streamed && !text.is_empty() {
            out.push(Step::Emit(Event::Thinking { message: current.id, text }));
        }
    }
}
