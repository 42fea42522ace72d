//! How long the output of a child is read on after the child ended, for agents and for shell commands alike.
//!
//! What stood in its pipes when it ended is its own and is read, however long that takes. A process it left
//! behind may hold the pipes open, or go on writing: that one is waited for until it is quiet for a moment,
//! and no longer than a while if it never is.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use crate::during::poll::Source;

/// How long nothing need come to be quiet.
pub(crate) const QUIET: Duration = Duration::from_millis(200);
/// How long it may go on without ever being quiet.
const LONGEST: Duration = Duration::from_secs(2);

/// The end of a child's output.
pub(crate) struct Drain {
    ended: Instant,
    last_read: Instant,
    /// Bytes of the child itself that are still to be read.
    stdout: usize,
    stderr: usize,
    hurried: bool,
}

impl Drain {
    /// The child has just ended.
    pub(crate) fn begin(stdout: &OwnedFd, stderr: &OwnedFd) -> Self {
        let waiting = |fd| rustix::io::ioctl_fionread(fd).unwrap_or(0) as usize;
        let now = Instant::now();
        Self { ended: now, last_read: now, stdout: waiting(stdout), stderr: waiting(stderr), hurried: false }
    }

    /// Something was read, or with nothing left to read: nothing.
    pub(crate) fn note_read(&mut self, source: Source, bytes: Option<&[u8]>) {
        let owed = match source {
            Source::Stdout => &mut self.stdout,
            Source::Stderr => &mut self.stderr,
            _ => return,
        };
        let bytes = bytes.unwrap_or_default();
        *owed = if bytes.is_empty() { 0 } else { owed.saturating_sub(bytes.len()) };
        if !bytes.is_empty() {
            self.last_read = Instant::now();
        }
    }

    /// The user is waiting: only what the child itself wrote is still read.
    pub(crate) fn hurry(&mut self) {
        self.hurried = true;
    }

    /// Whether there is nothing more to wait for; `open` says whether a stream still is.
    pub(crate) fn is_over(&self, open: bool) -> bool {
        let others = !self.hurried && self.last_read.elapsed() < QUIET && self.ended.elapsed() < LONGEST;
        !open || (self.stdout == 0 && self.stderr == 0 && !others)
    }

    /// When to look again, if nothing comes.
    pub(crate) fn patience() -> Duration {
        Duration::from_millis(20)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn what_the_child_wrote_is_owed_however_long_it_takes_and_others_are_not() {
        let (stdout, mut writer) = std::io::pipe().unwrap();
        let (stderr, _errors) = std::io::pipe().unwrap();
        let (stdout, stderr) = (OwnedFd::from(stdout), OwnedFd::from(stderr));
        writer.write_all(b"its own").unwrap();
        let mut drain = Drain::begin(&stdout, &stderr);
        let long_ago = Instant::now().checked_sub(2 * LONGEST).unwrap();
        (drain.ended, drain.last_read) = (long_ago, long_ago);
        assert!(!drain.is_over(true), "nothing of it was read");
        drain.note_read(Source::Stdout, Some(b"its"));
        assert!(!drain.is_over(true), "not all of it was read");
        drain.note_read(Source::Stdout, Some(b" own and more"));
        assert!(drain.is_over(true), "whoever goes on writing has had its time");
        drain.ended = Instant::now();
        assert!(!drain.is_over(true), "it is given a while");
        assert!(drain.is_over(false), "unless nobody is left who could write");
        drain.hurry();
        assert!(drain.is_over(true), "or somebody is waiting");
    }
}
