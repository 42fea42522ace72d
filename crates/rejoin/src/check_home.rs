//! A check-up of the place where all data is kept.

use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::{AgentCheck, Finding, Rejoin};

/// With less room a turn may not be written down to its end.
const ENOUGH: u64 = 100 << 20;

/// So much is written to try it: more than a file system keeps back for small things.
const TRIED: usize = 64 << 10;

/// The check-up of `$REJOIN_HOME`, as the last entry of `rejoin doctor --json`.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct HomeCheckup {
    /// Where it is.
    pub home: PathBuf,
    /// Point by point.
    pub checks: Vec<AgentCheck>,
}

impl HomeCheckup {
    /// The worst of its findings.
    pub fn worst(&self) -> Finding {
        Finding::worst_of(&self.checks)
    }
}

impl Rejoin {
    /// Whether something can be kept in the home; nothing stays there that was not.
    pub fn check_home(&self) -> HomeCheckup {
        let home = self.home();
        let checks = match home.ancestors().find(|dir| dir.exists()) {
            Some(dir) => vec![writes(home, dir), room(dir)],
            None => Vec::new(),
        };
        HomeCheckup { home: home.to_owned(), checks }
    }
}

/// Whether a file can be made and written there.
fn writes(home: &Path, dir: &Path) -> AgentCheck {
    let tried = || -> io::Result<()> {
        // Nothing has a name in it, so nothing is left behind whatever happens.
        let mut file = tempfile::tempfile_in(dir)?;
        file.write_all(&vec![0; TRIED])?;
        file.sync_all()
    };
    let shown = dir.display();
    let broken = |text: String, next: &str| AgentCheck {
        name: "write",
        finding: Finding::Broken,
        text,
        next: next.to_owned(),
    };
    match tried() {
        Ok(()) if dir == home => AgentCheck::fine("write", format!("{shown} can be written")),
        Ok(()) => AgentCheck::fine("write", format!("{} is made with the first turn", home.display())),
        Err(error) => match error.kind() {
            ErrorKind::ReadOnlyFilesystem => broken(
                format!("{shown} is on a read-only file system: no turn can be kept"),
                "make it writable, or set REJOIN_HOME to a directory that is",
            ),
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => broken(
                format!("{shown} is full ({error}): no turn can be kept"),
                "make room, or set REJOIN_HOME to a directory on another disk",
            ),
            ErrorKind::PermissionDenied => broken(
                format!("{shown} may not be written by you: no turn can be kept"),
                "correct its permissions, or set REJOIN_HOME to a directory of yours",
            ),
            _ => broken(
                format!("{shown} cannot be written: {error}"),
                "set REJOIN_HOME to a directory that can",
            ),
        },
    }
}

/// How much room there is.
fn room(dir: &Path) -> AgentCheck {
    match rustix::fs::statvfs(dir) {
        Ok(disk) => {
            let free = disk.f_bavail.saturating_mul(disk.f_frsize);
            let text = format!("{} MiB are free", free >> 20);
            if free >= ENOUGH {
                return AgentCheck::fine("room", text);
            }
            let next = "make room: a turn that cannot be written down is stopped".to_owned();
            AgentCheck { name: "room", finding: Finding::Note, text, next }
        }
        Err(error) => AgentCheck {
            name: "room",
            finding: Finding::Note,
            text: format!("how much room there is cannot be told: {}", io::Error::from(error)),
            next: String::new(),
        },
    }
}
