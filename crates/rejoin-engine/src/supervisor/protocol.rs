//! What rejoin and its supervisor say to each other over a socket pair: messages with descriptors ([`frames`]) one
//! way, one JSON object a line the other.
//!
//! A process is not a turn: the leases of a turn come with its beginning and are let go of at its end, each with a word
//! back, whenever the process was started and however long it lives.
//!
//! [`frames`]: super::frames

use serde::{Deserialize, Serialize};

/// From rejoin.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Message {
    /// Start this agent. Comes once, with its standard input, output and error.
    Start(Box<Spec>),
    /// A turn begins: comes with its leases, which are held until it is over or all that is below is gone. The first
    /// one comes before the start, so that nothing runs without them. Answered by [`Report::TurnBegun`].
    BeginTurn {
        /// Which turn of this process.
        turn: u32,
    },
    /// The turn is over: let go of its leases, whatever lives on. Answered by [`Report::TurnEnded`].
    EndTurn {
        /// Which.
        turn: u32,
    },
    /// Do this to what was started.
    Do(Command),
}

/// What to start.
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

/// What may be done to an agent that was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Command {
    /// Interrupt the agent (its process group).
    Interrupt,
    /// Ask everything below to end.
    Terminate,
    /// End everything below.
    Kill,
    /// The last turn ended well: let background processes live, tell which there are, and go.
    Leave,
}

/// To rejoin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Report {
    /// The leases of a turn are held here, too: until now they were held by rejoin alone.
    TurnBegun {
        /// Which turn of this process.
        turn: u32,
    },
    /// They are no longer held here.
    TurnEnded {
        /// Which.
        turn: u32,
    },
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
