//! What a run brings in.

use rejoin_core::{MessageId, Outcome, SessionId, Usage};

/// How a run ended.
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
    pub(crate) warnings: Vec<String>,
    /// Warnings beyond those kept.
    pub(crate) more_warnings: usize,
    /// The agent said or did something: a second run would do it twice.
    pub(crate) active: bool,
    pub(crate) answer: AnswerText,
    /// The user asked to stop, for whatever reason it was being stopped already.
    pub(crate) cancelled: bool,
}

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

/// The text of the newest message of the agent, bounded.
#[derive(Debug, Default)]
pub(crate) struct AnswerText {
    message: Option<MessageId>,
    pub(crate) text: String,
}

/// An answer is kept up to this size; the journal has all of it.
const ANSWER_BYTES: usize = 8 << 20;

impl AnswerText {
    /// Takes in a piece or a block of text; a new message begins a new answer.
    pub(crate) fn put(&mut self, message: MessageId, offset: usize, text: &str) {
        if self.message != Some(message) {
            self.message = Some(message);
            self.text.clear();
        }
        if offset < self.text.len() {
            self.text.truncate(self.text.floor_char_boundary(offset));
        }
        let room = ANSWER_BYTES.saturating_sub(self.text.len());
        self.text.push_str(&text[..text.floor_char_boundary(room)]);
    }
}
