//! Runs that wait, and when each begins.

/// Runs that wait, and those that run.
pub(crate) struct Queue;
