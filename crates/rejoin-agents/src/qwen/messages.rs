//! The message Qwen is writing: which id it has here, and how far its text goes.

use rejoin_core::{Event, MessageId};

use super::failure;
use crate::{IdSource, Step};

/// The current message of the conversation. Qwen puts each kind of block into a message of its own
/// and names it only when it is finished.
pub(super) struct Messages {
    ids: IdSource,
    current: Option<Current>,
    said: bool,
}

struct Current {
    id: MessageId,
    /// Bytes of text that were streamed.
    streamed: usize,
    /// The thinking was streamed: its finished block says nothing new.
    thought: bool,
    /// The last piece looks like a failure of the model's service and is held back.
    held: Option<String>,
}

impl Messages {
    pub(super) fn new(ids: IdSource) -> Self {
        Self { ids, current: None, said: false }
    }

    /// Whether any text was said.
    pub(super) fn said(&self) -> bool {
        self.said
    }

    /// An id for a message of its own.
    pub(super) fn another(&mut self) -> MessageId {
        (self.ids)()
    }

    fn current(&mut self) -> &mut Current {
        let ids = &mut self.ids;
        self.current.get_or_insert_with(|| Current { id: ids(), streamed: 0, thought: false, held: None })
    }

    /// The model is asked anew: what was streamed of the message is no part of the answer.
    pub(super) fn withdraw(&mut self, out: &mut Vec<Step>) {
        if let Some(current) = self.current.take()
            && current.streamed > 0
        {
            let (message, text) = (current.id, String::new());
            out.push(Step::Emit(Event::Message { message, offset: 0, text, model: None, native: None }));
        }
    }

    /// A piece of text.
    pub(super) fn stream_text(&mut self, text: String, out: &mut Vec<Step>) {
        let current = self.current();
        let text = match current.held.take() {
            Some(held) => held + &text,
            None if failure::begins_like_one(&text) => {
                current.held = Some(text);
                return;
            }
            None => text,
        };
        let (message, offset) = (current.id, current.streamed);
        current.streamed += text.len();
        if !text.is_empty() {
            self.said = true;
            out.push(Step::Emit(Event::TextDelta { message, offset, text }));
        }
    }

    /// A piece of thinking.
    pub(super) fn stream_thinking(&mut self, text: String, out: &mut Vec<Step>) {
        let current = self.current();
        if !text.is_empty() {
            current.thought = true;
            out.push(Step::Emit(Event::Thinking { message: current.id, text }));
        }
    }

    /// A finished message begins. `counted`: the model's service told its tokens.
    pub(super) fn finish(
        &mut self,
        native: Option<String>,
        model: Option<String>,
        counted: bool,
    ) -> Finished<'_> {
        self.current();
        let (id, streamed, thought, held) = match self.current.take() {
            Some(current) => (current.id, current.streamed, current.thought, current.held),
            None => ((self.ids)(), 0, false, None),
        };
        Finished { said: &mut self.said, id, native, model, counted, offset: 0, streamed, thought, held }
    }
}

/// A finished message: its blocks come one after the other.
pub(super) struct Finished<'a> {
    said: &'a mut bool,
    pub(super) id: MessageId,
    native: Option<String>,
    model: Option<String>,
    counted: bool,
    offset: usize,
    streamed: usize,
    thought: bool,
    held: Option<String>,
}

impl Finished<'_> {
    /// A block of text; gives back the failure at its end.
    pub(super) fn text(&mut self, mut text: String, out: &mut Vec<Step>) -> Option<String> {
        // Where text was streamed, a failure is a piece of its own.
        let streamed = self.streamed > 0 || self.held.is_some();
        let failure = match self.held.take() {
            Some(held) if !self.counted && text.ends_with(&held) => Some(held),
            None if !self.counted && !streamed => failure::at_the_end(&text).map(str::to_owned),
            _ => None,
        };
        if let Some(failure) = &failure {
            text.truncate(text.len() - failure.len());
        }
        if !text.is_empty() || self.streamed > self.offset {
            *self.said = true;
            let (message, offset) = (self.id, self.offset);
            self.offset += text.len();
            let (model, native) = (self.model.clone(), self.native.clone());
            out.push(Step::Emit(Event::Message { message, offset, text, model, native }));
        }
        failure
    }

    /// A block of thinking.
    pub(super) fn thinking(&mut self, text: String, out: &mut Vec<Step>) {
        if !std::mem::take(&mut self.thought) && !text.is_empty() {
            out.push(Step::Emit(Event::Thinking { message: self.id, text }));
        }
    }
}
