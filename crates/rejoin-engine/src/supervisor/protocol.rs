//! What rejoin and its supervisor say to each other: one JSON object a line, over a socket pair.

use serde::{Deserialize, Serialize};

/// The first message, sent together with the descriptors: standard input, output and error of the
/// agent, then every lock that must be held until its last descendant is gone.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Spec {
    /// Command and arguments.
    pub(crate) argv: Vec<Bytes>,
    /// Environment additions.
    pub(crate) env: Vec<(String, Bytes)>,
    /// Variables to be removed.
    pub(crate) remove_env: Vec<String>,
    /// Where to run.
    pub(crate) dir: Bytes,
    /// What the agent's processes carry in their environment.
    pub(crate) mark: String,
}

/// A text of the operating system, which need not be UTF-8.
pub(crate) type Bytes = Vec<u8>;

/// From rejoin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Command {
    /// Interrupt the agent (its process group).
    Interrupt,
    /// Ask everything below to end.
    Terminate,
    /// End everything below.
    Kill,
    /// The turn ended well: let background processes live, tell which there are, and go.
    Leave,
}

/// To rejoin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Report {
    /// The agent runs.
    Started {
        /// Its process id.
        pid: u32,
    },
    /// It could not be started.
    Failed {
        /// Why.
        text: String,
    },
    /// It ended.
    Exited {
        /// By itself, with this code.
        code: Option<i32>,
        /// By this signal.
        signal: Option<i32>,
    },
    /// Background processes it left.
    Left {
        /// Process id and name of each.
        processes: Vec<(u32, String)>,
    },
}
