use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use crate::TurnError;

/// Asks to stop.
const CANCEL: u8 = 1;
/// Asks to look at what came.
const WAKE: u8 = 0;

/// Stops a running turn, from any thread or from a signal handler.
///
/// The first call asks the agent to stop in its own way and then climbs the ladder; the second one
/// ends everything at once.
#[derive(Clone, Debug)]
pub struct Canceller(Arc<UnixStream>);

/// The end the engine watches.
#[derive(Debug)]
pub struct CancelWatch {
    ours: UnixStream,
    /// Keeps the pair open: a closed one would look like requests without end.
    theirs: Canceller,
}

impl Canceller {
    /// Asks the turn to stop.
    pub fn cancel(&self) {
        let _ = (&*self.0).write(&[CANCEL]);
    }

    /// Something else waits for the turn.
    pub(crate) fn wake(&self) {
        let _ = (&*self.0).write(&[WAKE]);
    }

    /// The socket behind it, for a signal handler: one byte that is not 0 is one request.
    pub fn socket(&self) -> std::io::Result<UnixStream> {
        self.0.try_clone()
    }
}

impl CancelWatch {
    /// A linked pair.
    pub fn pair() -> Result<(Canceller, CancelWatch), TurnError> {
        let pair = || -> std::io::Result<_> {
            let (theirs, ours) = UnixStream::pair()?;
            theirs.set_nonblocking(true)?;
            ours.set_nonblocking(true)?;
            Ok((theirs, ours))
        };
        let (theirs, ours) = pair().map_err(TurnError::system("cannot make a socket pair"))?;
        let theirs = Canceller(Arc::new(theirs));
        Ok((theirs.clone(), CancelWatch { ours, theirs }))
    }

    /// Another end of the same pair, for a turn that begins when the one before it is over: what stops the one stops
    /// the other.
    pub fn again(&self) -> Result<CancelWatch, TurnError> {
        let ours = self.ours.try_clone().map_err(TurnError::system("cannot copy a socket"))?;
        Ok(CancelWatch { ours, theirs: self.theirs.clone() })
    }

    /// Another handle.
    pub(crate) fn canceller(&self) -> Canceller {
        self.theirs.clone()
    }

    /// How many requests came since the last look.
    pub(crate) fn requests(&self) -> usize {
        let mut buffer = [WAKE; 64];
        let _ = (&self.ours).read(&mut buffer);
        buffer.iter().filter(|byte| **byte != WAKE).count()
    }
}

impl AsFd for CancelWatch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.ours.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    use super::*;

    #[test]
    fn a_canceller_that_is_dropped_is_no_request() {
        let (canceller, watch) = CancelWatch::pair().unwrap();
        let other = canceller.clone();
        drop(canceller);
        other.cancel();
        drop(other);
        assert_eq!(watch.requests(), 1);
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        assert_eq!(poll(&mut [PollFd::new(&watch, PollFlags::IN)], Some(&now)), Ok(0), "nothing more to see");
    }
}
