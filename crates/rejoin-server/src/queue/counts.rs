//! Numbers about runs.

use std::collections::BTreeMap;

use super::entry::RunEnd;

/// How many runs there are and were, since the daemon began.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Counts {
    /// Of those that run here now.
    pub(crate) running: usize,
    /// Of those that wait.
    pub(crate) queued: usize,
    /// Of all that began.
    pub(crate) started: u64,
    /// Of all that ended, by how.
    pub(crate) ended: BTreeMap<RunEnd, u64>,
}
