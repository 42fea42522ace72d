use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

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
    _theirs: Arc<UnixStream>,
}

impl Canceller {
    /// Asks the turn to stop.
    pub fn cancel(&self) {
        let _ = (&*self.0).write(&[1]);
    }

    /// The socket behind it, for a signal handler: one byte is one request.
    pub fn socket(&self) -> std::io::Result<UnixStream> {
        self.0.try_clone()
    }
}

impl CancelWatch {
    /// A linked pair.
    pub fn pair() -> std::io::Result<(Canceller, CancelWatch)> {
        let (theirs, ours) = UnixStream::pair()?;
        theirs.set_nonblocking(true)?;
        ours.set_nonblocking(true)?;
        let theirs = Arc::new(theirs);
        Ok((Canceller(Arc::clone(&theirs)), CancelWatch { ours, _theirs: theirs }))
    }

    /// How many requests came since the last look.
    pub(crate) fn requests(&self) -> usize {
        let mut buffer = [0; 16];
        (&self.ours).read(&mut buffer).unwrap_or(0)
    }
}

impl AsFd for CancelWatch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.ours.as_fd()
    }
}
