//! What happens in conversations, told to any number of watchers.
//!
//! ```text
//! journal ─▶ hub (a thread per watched conversation) ─▶ channel (ring, texts) ─▶ readers ─▶ server-sent events
//!    │                        ▲ pieces of text of our own turns                   ▲
//!    └────────────────────────┼────── replay: who has just come, or was too slow ─┘
//! ```

mod block_texts;
mod change_feed;
mod channel;
mod conversation_stream;
mod frame;
mod hub;
mod hubs;
mod replay;
mod ring;
mod sse;
#[cfg(test)]
mod tests;

pub(crate) use change_feed::Listener;
pub(crate) use conversation_stream::ConversationStream;
pub(crate) use frame::Frame;
pub(crate) use hubs::{Hubs, StreamSlot};
pub(crate) use replay::Replay;
pub(crate) use sse::{Ids, response};
