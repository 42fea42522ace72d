//! When the agent is done: what is told about it, and when its session is believed to hold it.

pub(crate) mod ended;
pub(crate) mod receipt;
pub(crate) mod settled;
