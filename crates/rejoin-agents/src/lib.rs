//! One file per agent: what its installation can do, how a turn is launched, what its lines mean,
//! its words for failures, and where it keeps its sessions.
//!
//! An agent's file knows neither how a process is run nor that there is a journal. Adding an agent
//! is one new file and one line in [`registry`].

mod attached;
mod blocks;
mod checks;
mod claude;
mod codex;
mod damage;
mod definition;
mod demo;
mod driver;
mod embedded;
mod extra_args;
mod gemini;
mod help;
mod jsonc;
mod loose;
mod nesting;
mod numbers;
mod openai;
mod opencode;
mod pi;
#[cfg(test)]
mod pipes;
mod places;
mod provider_keys;
mod qwen;
mod registry;
mod session_id;
mod surrogates;
mod transcript;
mod truncated;
mod words;

pub use attached::{Attached, Media, check_kinds};
pub use damage::Damage;
pub use definition::{
    Capabilities, Definition, Endpoint, FindSession, Found, Hazard, Launch, Login, Lookup, ProbeAnswer,
    Refusal, Request,
};
pub use driver::{Answer, Driver, Exit, IdSource, Line, Step};
pub use registry::{Agents, find, registry};

/// The usual probes of a program: its version and its help.
pub const VERSION_AND_HELP: &[&[&str]] = &[&["--version"], &["--help"]];
