//! Waiting for several streams at once.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// What may have something for us.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    Stdout,
    Stderr,
    Stdin,
    Control,
    Cancel,
}

/// Waits until something can be done, and tells what.
pub(crate) fn wait_for(
    fds: &[(Source, BorrowedFd<'_>, PollFlags)],
    limit: Duration,
) -> std::io::Result<Vec<Source>> {
    let mut polled: Vec<PollFd<'_>> =
        fds.iter().map(|(_, fd, flags)| PollFd::from_borrowed_fd(*fd, *flags)).collect();
    let limit = Timespec::try_from(limit).unwrap_or(Timespec { tv_sec: 60, tv_nsec: 0 });
    match poll(&mut polled, Some(&limit)) {
        Ok(_) => {}
        Err(rustix::io::Errno::INTR) => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    }
    let ready = fds.iter().zip(&polled).filter(|(_, polled)| !polled.revents().is_empty());
    Ok(ready.map(|((source, ..), _)| *source).collect())
}

/// What can be read now; `None` if nothing, an empty slice at the end.
pub(crate) fn read_some<'b>(fd: &OwnedFd, buffer: &'b mut [u8]) -> Option<&'b [u8]> {
    match rustix::io::read(fd, &mut *buffer) {
        Ok(count) => Some(&buffer[..count]),
        Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => None,
        Err(_) => Some(&[]),
    }
}
