//! When the agent is done: what is told about it.

pub(crate) mod receipt;
