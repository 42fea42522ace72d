//! While the agent runs: its output is read, written down and handed on; it is answered and stopped.

pub(crate) mod answers;
pub(crate) mod cancel;
pub(crate) mod drain;
pub(crate) mod feed;
pub(crate) mod follow;
pub(crate) mod launch_result;
pub(crate) mod limit;
mod lines;
pub(crate) mod outbox;
pub(crate) mod poll;
pub(crate) mod pump;
pub(crate) mod questions;
pub(crate) mod record_writer;
pub(crate) mod silence;
pub(crate) mod stop;
pub(crate) mod text;
pub(crate) mod weight;
pub(crate) mod writer_pool;
