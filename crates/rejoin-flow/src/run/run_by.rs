use rejoin_journal::Owner;

use super::walk::now;

/// Whose process carries a run out: others, who want it to stop, have to know.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum RunBy {
    /// A command that does nothing else: a signal stops the run.
    #[default]
    Command,
    /// The daemon, which does much else: it is asked in the run's log.
    Daemon,
}

impl RunBy {
    const fn command(self) -> &'static str {
        match self {
            RunBy::Command => "rejoin flow",
            RunBy::Daemon => "rejoin serve",
        }
    }

    /// This process, as the holder of a run.
    pub(super) fn owner(self) -> Owner {
        Owner::this_process(self.command(), "a run of a flow", now())
    }

    /// Who a holder said that it is.
    pub(super) fn of(owner: &Owner) -> Self {
        if owner.command == RunBy::Daemon.command() { RunBy::Daemon } else { RunBy::Command }
    }
}
