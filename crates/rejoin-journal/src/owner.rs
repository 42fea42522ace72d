use std::fmt;

use serde::{Deserialize, Serialize};

use crate::process::{Process, birth, number_is_taken};

/// Who holds a lock, for the one who has to wait.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Owner {
    /// Its process.
    pub pid: u32,
    /// When that process was born, where the system can tell: a number alone may be somebody else's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub born: Option<u64>,
    /// Since when, for display.
    pub started: String,
    /// The command it was called by.
    pub command: String,
    /// What it is doing.
    pub what: String,
    /// What the processes carry in their environment that were started under this lock; those of
    /// killed holders included, until they are known to be gone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<String>,
}

impl Owner {
    /// This process.
    pub fn this_process(command: &str, what: impl Into<String>, started: impl Into<String>) -> Self {
        let pid = std::process::id();
        let (started, what) = (started.into(), what.into());
        Self { pid, born: birth(pid), started, command: command.to_owned(), what, marks: Vec::new() }
    }

    /// The same, with what the processes started under the lock carry in their environment.
    #[must_use]
    pub fn marked(mut self, mark: impl Into<String>) -> Self {
        self.marks.push(mark.into());
        self
    }

    /// The process itself, to be signalled: only if it is surely the one that took the lock. `None` if it
    /// is gone, or was written down by a rejoin (0.1) that did not say when it was born.
    pub fn process(&self) -> Option<Process> {
        Process::find(self.pid, self.born)
    }

    /// For how long it has held the lock, in the largest unit there are two of; `None` if it did not say since when.
    fn held_for(&self, now: jiff::Timestamp) -> Option<String> {
        let started: jiff::Timestamp = self.started.parse().ok()?;
        let seconds = now.duration_since(started).as_secs().max(0);
        Some(match seconds {
            0..120 => format!("{seconds} s"),
            120..7200 => format!("{} min", seconds / 60),
            7200..172_800 => format!("{} h", seconds / 3600),
            _ => format!("{} days", seconds / 86_400),
        })
    }

    /// The process is surely not there any more: what holds the lock is something that it started.
    pub fn is_gone(&self) -> bool {
        self.pid != 0
            && match self.born {
                Some(_) => self.process().is_none(),
                None => !number_is_taken(self.pid),
            }
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gone = self.is_gone();
        if gone {
            f.write_str("what was started by ")?;
        }
        match self.pid {
            0 => f.write_str("a process that did not say its number")?,
            pid => write!(f, "process {pid}")?,
        }
        if !self.command.is_empty() {
            write!(f, " ({})", self.command)?;
        }
        if !self.what.is_empty() {
            write!(f, ", {}", self.what)?;
        }
        match self.held_for(jiff::Timestamp::now()) {
            Some(time) if gone => write!(f, ", {time} ago")?,
            Some(time) => write!(f, ", for {time}")?,
            None if self.started.is_empty() => {}
            None => write!(f, ", since {}", self.started)?,
        }
        if gone {
            f.write_str(", which no longer runs here")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    fn owner_of(pid: u32) -> Owner {
        Owner { pid, born: birth(pid), what: "a turn".into(), ..Owner::default() }
    }

    #[test]
    fn a_process_is_only_found_as_the_one_it_was() {
        let mut child = Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().unwrap();
        let owner = owner_of(child.id());
        assert!(!owner.is_gone());
        assert_eq!(owner.to_string(), format!("process {}, a turn", child.id()));

        // Somebody else got the number: not signalled, not named as the holder.
        let other = Owner { born: owner.born.map(|born| born - 1), ..owner.clone() };
        assert!(other.process().is_none() && other.is_gone());
        // An older rejoin did not say when it was born: not signalled, but not called gone either.
        let unsure = Owner { born: None, ..owner.clone() };
        assert!(unsure.process().is_none() && !unsure.is_gone());

        owner.process().unwrap().terminate().unwrap();
        child.wait().unwrap();
        assert!(owner.process().is_none() && owner.is_gone());
        assert_eq!(
            owner.to_string(),
            format!("what was started by process {}, a turn, which no longer runs here", child.id())
        );
    }

    #[test]
    fn people_are_told_for_how_long_and_not_since_when() {
        let owner = Owner { started: "2026-11-15T20:00:00.000Z".into(), ..owner_of(std::process::id()) };
        let held = |now: &str| owner.held_for(now.parse().unwrap()).unwrap();
        assert_eq!(held("2026-11-15T20:00:20Z"), "20 s");
        assert_eq!(held("2026-11-15T20:03:59Z"), "3 min");
        assert_eq!(held("2026-11-15T23:10:00Z"), "3 h");
        assert_eq!(held("2026-11-19T20:00:00Z"), "4 days");
        assert_eq!(held("2026-11-15T19:00:00Z"), "0 s", "a clock that was set back");
        assert!(!owner.to_string().contains("2026"), "{owner}");
        let told = Owner { started: "20:15".into(), ..owner }.to_string();
        assert!(told.ends_with(", a turn, since 20:15"), "{told}");
    }

    #[test]
    fn a_process_that_ended_unnoticed_is_gone() {
        let mut child = Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().unwrap();
        let owner = owner_of(child.id());
        let process = owner.process().unwrap();
        child.kill().unwrap();
        let limit = std::time::Instant::now() + std::time::Duration::from_mins(1);
        while !owner.is_gone() {
            assert!(std::time::Instant::now() < limit, "a zombie counts as a holder");
            std::thread::yield_now();
        }
        child.wait().unwrap();
        assert_eq!(process.terminate().unwrap_err().kind(), std::io::ErrorKind::NotFound);
    }
}
