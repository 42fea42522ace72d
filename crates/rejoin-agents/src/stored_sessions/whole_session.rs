use std::fmt::Write as _;
use std::io;

use rejoin_core::Usage;
use serde_json::Value;

/// Sessions that are larger are not read whole.
pub(crate) const LARGEST_SESSION: u64 = 512 << 20;
/// What is kept of what a tool gave back.
pub(crate) const LONGEST_OUTPUT: usize = 64 << 10;

/// A session with all that was said and done in it: a tree of turns, as its agent keeps it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct WholeSession {
    /// The agent's own id, not yet checked.
    pub id: String,
    /// The name it was given, by the user or by the agent.
    pub title: Option<String>,
    /// The session it was copied from, where the agent tells.
    pub forked_from: Option<String>,
    /// It was begun by another session, not by a person.
    pub is_subagent: bool,
    /// In the order they were written: each stands behind its parent.
    pub turns: Vec<StoredTurn>,
    /// The last turn that the agent would remember: its own path leads from the root to there. `None`, if it
    /// remembers nothing.
    pub head: Option<usize>,
    /// Records that were not understood, by kind, with their number.
    pub not_understood: Vec<(String, usize)>,
}

/// One thing the user typed, and all that came of it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct StoredTurn {
    /// The agent's own id of the prompt, or what tells it apart in this session for good.
    pub id: String,
    /// The turn before it on its path, by its place in [`WholeSession::turns`]; `None` begins a path.
    pub parent: Option<usize>,
    /// What the user typed, as the agent stored it: what rejoin put around it is still there. Empty, if the session
    /// begins with what was said before: a copy of a compacted one does.
    pub prompt: String,
    /// Names of files that went along.
    pub attached: Vec<String>,
    /// What was said and done, in order.
    pub steps: Vec<StoredStep>,
    /// How it ended.
    pub outcome: StoredOutcome,
    /// The directory it was run in.
    pub dir: Option<String>,
    /// The git branch it was run on.
    pub branch: Option<String>,
    /// When the prompt was written, in milliseconds since 1970.
    pub started_ms: Option<i64>,
    /// When the last of it was written.
    pub ended_ms: Option<i64>,
}

impl StoredTurn {
    /// What its answers used together.
    pub fn usage(&self) -> Option<Usage> {
        let used = self.steps.iter().filter_map(|step| match step {
            StoredStep::Answer(answer) => answer.usage,
            _ => None,
        });
        used.reduce(|mut sum, usage| {
            sum += usage;
            sum
        })
    }
}

/// How a turn in an agent's store ended.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum StoredOutcome {
    /// It was answered.
    Completed,
    /// The agent stored that it failed, and perhaps why.
    Failed(String),
    /// The user interrupted it.
    Interrupted,
    /// Nothing tells that it ended: it may still run.
    #[default]
    Open,
}

/// A step of a turn.
#[derive(Clone, PartialEq, Debug)]
pub enum StoredStep {
    /// The agent said this.
    Answer(StoredAnswer),
    /// It called a tool.
    Call {
        /// The agent's own id of the call.
        id: String,
        /// The tool.
        name: String,
        /// What it was called with.
        input: Value,
    },
    /// The tool gave this back.
    Result {
        /// Of which call.
        call: String,
        /// What it gave back, cut with a mark if it is long.
        output: String,
        /// It failed.
        failed: bool,
    },
    /// From here on the agent knows what came before only by this summary.
    Compaction {
        /// The summary; empty if it is not readable.
        summary: String,
    },
}

/// A message of the agent's.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct StoredAnswer {
    /// The agent's own id of it, or what tells it apart in this session for good.
    pub id: String,
    /// What it said.
    pub text: String,
    /// What it thought, where that is readable.
    pub thought: String,
    /// The model.
    pub model: Option<String>,
    /// What it used; said once for each request to the model.
    pub usage: Option<Usage>,
    /// When it was written, in milliseconds since 1970.
    pub time_ms: Option<i64>,
}

/// What a tool gave back, cut with a mark if it is long.
pub(crate) fn shortened_output(mut output: String) -> String {
    if output.len() > LONGEST_OUTPUT {
        let kept = output.floor_char_boundary(LONGEST_OUTPUT);
        let left = output.len() - kept;
        output.truncate(kept);
        let _ = write!(output, "\n[… {left} bytes more]");
    }
    output
}

/// Why a session is not read whole.
pub(crate) fn too_large() -> io::Error {
    let why = format!("the session is larger than {} MiB, too large to be read whole", LARGEST_SESSION >> 20);
    io::Error::new(io::ErrorKind::FileTooLarge, why)
}
