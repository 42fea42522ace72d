//! What a run brings in.

use rejoin_agents::Settles;
use rejoin_core::{AnswerText, Outcome, SessionId, Usage};

/// How a run ended: that it did is the driver's word, or ours if it can say none. Whether the agent's store shows it is
/// another matter: see [`LaunchResult::settles`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The turn is over.
    Ended(Outcome),
    /// The agent did not resume the session it was asked for.
    Rejected(String),
}

/// What a run brought.
#[derive(Debug, Default)]
pub(crate) struct LaunchResult {
    pub(crate) session: Option<SessionId>,
    pub(crate) stored: bool,
    pub(crate) model: Option<String>,
    pub(crate) usage: Option<Usage>,
    pub(crate) cost: Option<f64>,
    pub(crate) total: Option<Usage>,
    pub(crate) exit_code: Option<i32>,
    pub(crate) diagnostics: u64,
    /// The first lines that were not events, of either stream.
    pub(crate) lines: Vec<String>,
    pub(crate) warnings: Vec<String>,
    /// Warnings beyond those kept.
    pub(crate) more_warnings: usize,
    /// The agent said or did something: a second run would do it twice.
    pub(crate) active: bool,
    pub(crate) answer: AnswerText,
    /// When the agent's store shows what it said is over; nothing if none was launched.
    pub(crate) settles: Option<Settles>,
    /// The user asked to stop, for whatever reason it was being stopped already.
    pub(crate) cancelled: bool,
}

/// How many lines that were not events an outcome keeps.
pub(crate) const LINES_KEPT: usize = 50;

/// How many warnings of an agent a receipt repeats, and how much of each; the journal has all of them.
const WARNINGS_KEPT: usize = 50;
const WARNING_BYTES: usize = 4 << 10;

impl LaunchResult {
    /// Keeps a warning for the receipt.
    pub(crate) fn warn(&mut self, text: &str) {
        if self.warnings.len() == WARNINGS_KEPT {
            self.more_warnings += 1;
        } else if text.len() <= WARNING_BYTES {
            self.warnings.push(text.to_owned());
        } else {
            self.warnings.push(format!("{}…", &text[..text.floor_char_boundary(WARNING_BYTES)]));
        }
    }

    /// What the receipt says of them.
    pub(crate) fn take_warnings(&mut self) -> Vec<String> {
        let mut warnings = std::mem::take(&mut self.warnings);
        if self.more_warnings > 0 {
            warnings.push(format!("and {} more warnings", self.more_warnings));
        }
        warnings
    }
}
