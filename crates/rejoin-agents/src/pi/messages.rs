//! The message Pi is writing: which id it has here, and how far its text goes.

use rejoin_core::{Event, MessageId};

use super::wire::Message;
use crate::loose::TextOr;
use crate::{IdSource, Step};

/// The current message of the conversation.
pub(super) struct Messages {
    ids: IdSource,
    current: Option<Current>,
}

struct Current {
    id: MessageId,
    /// Bytes of text that were streamed.
    streamed: usize,
    /// The thinking was streamed: its finished block says nothing new.
    thought: bool,
    /// What a failed message had to say: part of the answer only if it is not asked again.
    held: Vec<Event>,
}

impl Messages {
    pub(super) fn new(ids: IdSource) -> Self {
        Self { ids, current: None }
    }

    /// An id for a message that is none of Pi's answers.
    pub(super) fn another(&mut self) -> MessageId {
        (self.ids)()
    }

    /// A message begins.
    pub(super) fn begin(&mut self, out: &mut Vec<Step>) {
        self.withdraw(out);
        self.current();
    }

    fn current(&mut self) -> &mut Current {
        let ids = &mut self.ids;
        self.current.get_or_insert_with(|| Current {
            id: ids(),
            streamed: 0,
            thought: false,
            held: Vec::new(),
        })
    }

    /// The message is asked for again: what was streamed of it is no part of the answer.
    pub(super) fn withdraw(&mut self, out: &mut Vec<Step>) {
        if let Some(current) = self.current.take()
            && current.streamed > 0
        {
            let text = String::new();
            out.push(Step::Emit(Event::Message {
                message: current.id,
                offset: 0,
                text,
                model: None,
                native: None,
            }));
        }
    }

    /// A piece of text.
    pub(super) fn stream_text(&mut self, text: String, out: &mut Vec<Step>) {
        if !text.is_empty() {
            let current = self.current();
            let (message, offset) = (current.id, current.streamed);
            current.streamed += text.len();
            out.push(Step::Emit(Event::TextDelta { message, offset, text }));
        }
    }

    /// A piece of thinking.
    pub(super) fn stream_thinking(&mut self, text: String, out: &mut Vec<Step>) {
        if !text.is_empty() {
            let current = self.current();
            current.thought = true;
            out.push(Step::Emit(Event::Thinking { message: current.id, text }));
        }
    }

    /// The message is whole; gives back the calls in it.
    pub(super) fn finish(&mut self, message: Message<'_>, out: &mut Vec<Step>) -> Vec<(MessageId, Call)> {
        let (id, events, calls) = self.blocks(message);
        self.current = None;
        out.extend(events.into_iter().map(Step::Emit));
        calls.into_iter().map(|call| (id, call)).collect()
    }

    /// The message broke off: its calls are never made, and its text may be asked for again.
    pub(super) fn hold(&mut self, message: Message<'_>) {
        let (_, events, _) = self.blocks(message);
        self.current().held = events;
    }

    /// The broken message is the last one: what it said stays.
    pub(super) fn keep(&mut self, out: &mut Vec<Step>) {
        if let Some(current) = self.current.take() {
            out.extend(current.held.into_iter().map(Step::Emit));
        }
    }

    fn blocks(&mut self, message: Message<'_>) -> (MessageId, Vec<Event>, Vec<Call>) {
        let current = self.current();
        let (id, thought) = (current.id, current.thought);
        let (model, native) = (message.model.into_filled(), message.response_id.into_filled());
        let (mut events, mut calls) = (Vec::new(), Vec::new());
        let mut offset = 0;
        let mut said = |text: String, events: &mut Vec<Event>| {
            if !text.is_empty() {
                let (at, model, native) = (offset, model.clone(), native.clone());
                offset += text.len();
                events.push(Event::Message { message: id, offset: at, text, model, native });
            }
        };
        let blocks = match message.content {
            TextOr::Blocks(blocks) => blocks,
            TextOr::Text(text) => {
                said(text.into_owned(), &mut events);
                Vec::new()
            }
            TextOr::Neither => Vec::new(),
        };
        for block in blocks {
            match block.kind.as_str() {
                "text" => said(block.text.into_string(), &mut events),
                "thinking" if !thought => {
                    let text = block.thinking.into_string();
                    if !text.is_empty() {
                        events.push(Event::Thinking { message: id, text });
                    }
                }
                "toolCall" => calls.push(Call {
                    id: block.id.into_string(),
                    name: block.name.into_string(),
                    input: block.arguments,
                }),
                _ => {}
            }
        }
        (id, events, calls)
    }
}

/// A call of a tool.
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) input: serde_json::Value,
}
