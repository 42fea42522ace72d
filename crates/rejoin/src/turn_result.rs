//! How a turn ended, as `rejoin run -o json` and the last line of its stream print it.

use rejoin_core::{FailureClass, Receipt};
use rejoin_engine::TurnOutcome;
use serde::{Deserialize, Serialize};

use crate::{Error, exit_code};

/// A turn that ran: the answer and the receipt.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TurnResult {
    /// What was done.
    #[serde(flatten)]
    pub receipt: Receipt,
    /// The answer.
    pub text: String,
}

impl From<&TurnOutcome> for TurnResult {
    fn from(outcome: &TurnOutcome) -> Self {
        Self { receipt: outcome.receipt().clone(), text: outcome.text().to_owned() }
    }
}

impl TurnResult {
    /// The exit code the command gives for it.
    pub fn exit_code(&self) -> i32 {
        exit_code::of_outcome(&self.receipt.outcome)
    }
}

/// The closing line of a turn's stream where rejoin itself failed in the middle: there is no receipt.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(tag = "type", rename = "result")]
#[non_exhaustive]
pub struct BrokenOffTurn {
    /// Empty: what came of the answer was told before.
    pub text: String,
    /// Always `failed`.
    pub outcome: &'static str,
    /// Always `internal`.
    pub class: FailureClass,
    /// What went wrong.
    pub error: String,
    /// The exit code the command gives for it.
    pub exit_code: i32,
}

impl From<&Error> for BrokenOffTurn {
    fn from(error: &Error) -> Self {
        Self {
            text: String::new(),
            outcome: "failed",
            class: FailureClass::Internal,
            error: error.to_string(),
            exit_code: error.exit_code(),
        }
    }
}
