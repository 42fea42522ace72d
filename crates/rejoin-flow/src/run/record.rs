//! What is written down about a run, one line each.

use std::collections::BTreeMap;

use rejoin::{ConversationId, Receipt, TurnId, exit_code};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Failure, Source};

/// The version of these records.
pub const FORMAT: u32 = 2;
/// From this version on every line has a checksum, `sum`, which is no field of its record.
pub(crate) const SEALED: u32 = 2;

/// One line of a run's file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Record {
    /// The first one: what is run.
    Run(Box<Begun>),
    /// The run goes on, and what these steps came to does not count any more.
    Resumed {
        /// When.
        time: String,
        /// The steps that begin anew.
        anew: Vec<String>,
        /// Lines that were damaged then, by their numbers: what they said does not matter any more, because all that
        /// was not over begins anew.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        damaged: Vec<usize>,
        /// What is run from now on, if its file was read again and says something else.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        updated: Option<Box<Begun>>,
    },
    /// A step begins.
    StepBegun {
        /// Which.
        #[serde(flatten)]
        key: Key,
        /// The first try is 1.
        attempt: u32,
        /// Why the try before it failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
        /// How long it waits before it goes about it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        wait_ms: Option<u64>,
        /// When.
        time: String,
    },
    /// An agent's turn of a step is about to begin.
    Turn {
        /// Of which step.
        #[serde(flatten)]
        key: Key,
        /// In this conversation.
        conversation: ConversationId,
        /// Its id.
        turn: TurnId,
        /// It sends an answer back that could not be used.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        sent_back: bool,
    },
    /// Somebody asks the process that is at it to stop: the only line that another process writes.
    AskedToStop {
        /// When.
        time: String,
    },
    /// A step ended.
    StepEnded(Box<Ended>),
    /// All that could be done was done: the closing line.
    Result {
        /// How it ended.
        state: State,
        /// What the command exits with.
        code: i32,
        /// When.
        time: String,
    },
}

/// What is run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = FlowBegun))]
pub struct Begun {
    /// The run.
    #[cfg_attr(feature = "openapi", schema(value_type = uuid::Uuid))]
    pub id: RunId,
    /// [`FORMAT`].
    pub format: u32,
    /// The version of rejoin.
    pub version: String,
    /// The name of the flow.
    pub flow: String,
    /// Its texts.
    pub source: Source,
    /// What it was given, defaults included.
    pub inputs: BTreeMap<String, Value>,
    /// Where it runs.
    pub dir: String,
    /// The steps of the flow that are run.
    pub steps: Vec<String>,
    /// When.
    pub time: String,
}

/// A step, or what one does with one item of a list.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = StepKey))]
pub struct Key {
    /// The step.
    pub step: String,
    /// Which item, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
}

impl Key {
    pub(crate) fn of(step: &str) -> Self {
        Self { step: step.to_owned(), index: None }
    }
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.index {
            Some(index) => write!(f, "{}[{index}]", self.step),
            None => f.write_str(&self.step),
        }
    }
}

/// How a step, or a run, ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = StepState))]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Well.
    Done,
    /// Not well.
    Failed,
    /// It was not run.
    Skipped,
    /// The user stopped it.
    Cancelled,
}

impl State {
    /// The stable word for it.
    pub const fn name(self) -> &'static str {
        match self {
            State::Done => "done",
            State::Failed => "failed",
            State::Skipped => "skipped",
            State::Cancelled => "cancelled",
        }
    }
}

/// What a step came to.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = StepEnded))]
pub struct Ended {
    /// Which step.
    #[serde(flatten)]
    pub key: Key,
    /// How.
    pub state: State,
    /// The flow goes on although it failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allowed: bool,
    /// The agent's answer, or what the command printed.
    pub output: String,
    /// The same, read as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub json: Option<Value>,
    /// Of the command, or of the agent where it ended by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// In which way it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// In words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What the command exits with because of it.
    pub code: i32,
    /// Of the agent's last turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<Box<Receipt>>,
    /// Wall time of all tries.
    pub milliseconds: u64,
}

impl Ended {
    pub(crate) fn new(key: &Key, state: State) -> Self {
        let code = match state {
            State::Done | State::Skipped => exit_code::DONE,
            State::Failed => exit_code::AGENT_FAILED,
            State::Cancelled => exit_code::CANCELLED,
        };
        Self {
            key: key.clone(),
            state,
            allowed: false,
            output: String::new(),
            json: None,
            exit_code: None,
            failure: None,
            error: None,
            code,
            receipt: None,
            milliseconds: 0,
        }
    }

    pub(crate) fn failed(key: &Key, failure: Failure, error: impl Into<String>) -> Self {
        let timeout = failure == Failure::Timeout;
        let code = if timeout { exit_code::TIMEOUT } else { exit_code::AGENT_FAILED };
        Self { failure: Some(failure), error: Some(error.into()), code, ..Self::new(key, State::Failed) }
    }

    /// Whether the flow stops here.
    pub fn stops(&self) -> bool {
        matches!(self.state, State::Failed | State::Cancelled) && !self.allowed
    }

    /// Whether there is nothing more to do about it, also when the run is taken up again.
    pub(crate) fn is_final(&self) -> bool {
        self.state == State::Done || (self.state == State::Failed && self.allowed)
    }

    /// The turn that others go on from.
    pub(crate) fn turn(&self) -> Option<(ConversationId, TurnId)> {
        let receipt = self.receipt.as_ref()?;
        Some((receipt.conversation?, receipt.turn))
    }

    /// What templates know of it.
    pub(crate) fn known(&self) -> Value {
        serde_json::json!({
            "ok": self.state == State::Done,
            "state": self.state.name(),
            "output": self.output,
            "exit_code": self.exit_code,
            "json": self.json,
        })
    }
}

/// The id of a run.
pub type RunId = uuid::Uuid;

/// The first characters of a run's id, as people see it.
pub fn short_run_id(id: RunId) -> String {
    id.simple().to_string()[..8].to_owned()
}
