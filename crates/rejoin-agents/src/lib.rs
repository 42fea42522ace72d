//! One file per agent: what its installation can do, how it is started, what a turn says to it, what its lines mean,
//! its words for failures, and where it keeps its sessions.
//!
//! An agent's file knows neither how a process is run nor that there is a journal. Adding an agent
//! is one new file and one line in [`registry`].

mod answer;
mod arguments;
mod attached;
mod checks;
mod claude;
mod codex;
mod damage;
mod definition;
mod demo;
mod driver;
mod embedded;
mod extra_args;
mod failures;
mod gemini;
mod help;
mod jsonc;
mod look;
mod loose;
mod nesting;
mod numbers;
mod one_shot;
mod openai;
mod opencode;
#[cfg(test)]
mod parrot;
mod pi;
#[cfg(test)]
mod pipes;
mod places;
mod process;
mod provider_keys;
mod qwen;
mod registry;
mod resets;
mod session_id;
mod session_user;
mod stored_sessions;
mod stream_json;
mod surrogates;
mod transcript;
mod truncated;
mod turn;
mod turn_state;
mod words;

pub use answer::Answer;
pub use attached::{Attached, Media, check_kinds};
pub use damage::Damage;
pub use definition::{About, Capabilities, Definition, Hazard, Login, ProbeAnswer, Refusal};
pub use driver::{Driver, Exit, Line, Settles, Step};
pub use look::{Found, Look, Wanted};
pub use process::{Endpoint, FindSession, Lookup, Process, ProcessRequest};
pub use registry::{Agents, find, registry};
pub use resets::{reset_time, tells_of_limit};
pub use session_user::SessionUser;
pub use stored_sessions::{
    FileStamp, Follows, SessionFiles, SessionStore, StoredAnswer, StoredOutcome, StoredSession, StoredStep,
    StoredTurn, UnreadFile, WholeSession,
};
pub use turn::{IdSource, TurnRequest, warnings_beforehand};

/// The usual probes of a program: its version and its help.
pub const VERSION_AND_HELP: &[&[&str]] = &[&["--version"], &["--help"]];
