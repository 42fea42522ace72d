use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How long things may take, and how large they may be.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Limits {
    /// The whole turn.
    pub turn: Option<Duration>,
    /// Time without a line the agent's driver understood, while we were reading, no tool ran and no question
    /// was open.
    pub idle: Option<Duration>,
    /// Of nothing but being told to try again later: then it is past a limit. Nothing: as configured where the turn is
    /// carried out, else [`Limits::LIMIT_AFTER`]; zero: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_after: Option<Duration>,
    /// For an answer to a question of the agent, where somebody is there to answer: then it is told that nobody is.
    pub answer: Option<Duration>,
    /// From the end of the turn to the end of the process.
    pub exit: Duration,
    /// From the end of the turn until the agent's store shows it, for agents that say so before they store it.
    pub settle: Duration,
    /// Between two steps of the stop ladder.
    pub grace: Duration,
    /// One line of output.
    pub line: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            turn: None,
            idle: Some(Duration::from_mins(15)),
            limit_after: None,
            answer: Some(Duration::from_hours(1)),
            exit: Duration::from_secs(10),
            settle: Duration::from_secs(5),
            grace: Duration::from_secs(5),
            line: 8 << 20,
        }
    }
}

impl Limits {
    /// How long an agent that did nothing yet may be told to try again later, if nobody says otherwise.
    pub const LIMIT_AFTER: Duration = Duration::from_mins(5);

    /// How long it may be told so; nothing if for ever.
    pub(crate) fn until_limit(&self) -> Option<Duration> {
        Some(self.limit_after.unwrap_or(Self::LIMIT_AFTER)).filter(|limit| !limit.is_zero())
    }
}
