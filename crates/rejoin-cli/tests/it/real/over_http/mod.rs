//! When a session of the real Claude Code is resumed, asked for over HTTP. Each scenario looks at both: how Claude was
//! called, and what the model was sent.

mod guards;
mod history;
mod questions;
mod served;
