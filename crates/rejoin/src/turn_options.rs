//! How turns are carried out, as plain data: for whoever keeps it between turns, stores it or sends it.

use std::path::PathBuf;
use std::time::Duration;

use rejoin_core::{Agent, Permissions};
use serde::{Deserialize, Serialize};

use crate::TurnBuilder;

/// How a turn is carried out, whoever begins it. What is not said is as [`TurnBuilder`] has it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TurnOptions {
    /// Who does it.
    pub agent: Option<Agent>,
    /// The model, in the agent's own terms.
    pub model: Option<String>,
    /// What the agent may do, from this turn on.
    pub permissions: Option<Permissions>,
    /// A new session of the agent that is told the history.
    pub fresh: bool,
    /// Files that are sent along.
    pub attach: Vec<PathBuf>,
    /// Run there instead of in the conversation's own directory.
    pub cwd: Option<PathBuf>,
    /// Where the agent keeps its sessions; an empty path is its own place.
    pub session_dir: Option<PathBuf>,
    /// A limit for the whole turn.
    pub timeout: Option<Duration>,
    /// A limit for silence while no tool runs; zero means none.
    pub idle_timeout: Option<Duration>,
    /// After how long of being told nothing but to try again later an agent is past a limit; zero means never.
    pub limit_after: Option<Duration>,
    /// A limit for an answer to a question of the agent; zero means none.
    pub answer_timeout: Option<Duration>,
    /// Replaces the agent's system prompt.
    pub system_prompt: Option<String>,
    /// Is added to the agent's system prompt.
    pub append_system_prompt: Option<String>,
    /// How long to wait for a conversation that is in use.
    pub wait: Option<Duration>,
    /// Arguments for the agent.
    pub extra_args: Vec<String>,
}

impl TurnOptions {
    /// Adds all of it to the description of a turn.
    #[must_use]
    pub fn apply<'a>(&self, turn: TurnBuilder<'a>) -> TurnBuilder<'a> {
        let mut turn = turn.extra_args(self.extra_args.iter().cloned());
        if let Some(agent) = &self.agent {
            turn = turn.agent(agent.clone());
        }
        if self.fresh {
            turn = turn.fresh();
        }
        if let Some(model) = &self.model {
            turn = turn.model(model);
        }
        if let Some(level) = self.permissions {
            turn = turn.permissions(level);
        }
        if let Some(dir) = &self.cwd {
            turn = turn.cwd(dir);
        }
        for file in &self.attach {
            turn = turn.attach(file);
        }
        if let Some(dir) = &self.session_dir {
            turn = turn.session_dir(dir);
        }
        if let Some(limit) = self.timeout {
            turn = turn.timeout(limit);
        }
        if let Some(limit) = self.idle_timeout {
            turn = turn.idle_timeout(limit);
        }
        if let Some(limit) = self.limit_after {
            turn = turn.limit_after(limit);
        }
        if let Some(limit) = self.answer_timeout {
            turn = turn.answer_timeout(limit);
        }
        if let Some(text) = &self.system_prompt {
            turn = turn.system_prompt(text);
        }
        if let Some(text) = &self.append_system_prompt {
            turn = turn.append_system_prompt(text);
        }
        if let Some(limit) = self.wait {
            turn = turn.wait(limit);
        }
        turn
    }
}
