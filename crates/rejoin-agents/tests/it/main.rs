//! The agents' tests, in one binary: recordings of the real programs, and what never happens to them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

mod arguments;
mod attachments;
mod claude;
mod codex;
mod cuts;
mod damaged;
mod demo;
mod fuzz;
mod garbage;
mod gemini;
mod gemini_home;
mod huge;
mod large_numbers;
mod learned;
mod mangled;
mod opencode;
mod opencode_store;
mod pi;
mod qwen;
mod recording;
mod refused;
mod requests;
mod sessions;
mod stores;
mod whole_sessions_claude_qwen;
mod whole_sessions_codex_opencode;
mod whole_sessions_gemini_pi;
