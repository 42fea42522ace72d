//! When the agent is done: what its session now holds, and what was done.

pub(crate) mod settle;
