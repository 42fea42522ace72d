//! Signals while a person sits at the terminal: Ctrl-C stops the turn, the end of the terminal ends everything.

use std::io::Read;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, Once, PoisonError};

use rejoin::Canceller;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};

use crate::{exit, tty};

/// The turn that is running, and whether it was told to stop.
static TURN: Mutex<Option<(Canceller, Arc<AtomicBool>)>> = Mutex::new(None);
static LEAVING: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);
static ONCE: Once = Once::new();

/// Takes care of signals from now on.
pub(crate) fn watch() -> std::io::Result<()> {
    let mut done = Ok(());
    ONCE.call_once(|| done = begin());
    done
}

fn begin() -> std::io::Result<()> {
    let (mut ours, theirs) = UnixStream::pair()?;
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        if signal != SIGINT {
            signal_hook::flag::register(signal, Arc::clone(&LEAVING))?;
        }
        signal_hook::low_level::pipe::register(signal, theirs.try_clone()?)?;
    }
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        while ours.read(&mut [0]).is_ok_and(|count| count > 0) {
            match &*turn() {
                Some((canceller, stopped)) => {
                    stopped.store(true, Ordering::Relaxed);
                    canceller.cancel();
                }
                None if leaving() => {
                    tty::restore();
                    std::process::exit(exit::CANCELLED);
                }
                None => {}
            }
        }
    })?;
    Ok(())
}

/// A file that may not grow further (`ulimit -f`) becomes an error of the write instead of our death. By a handler:
/// that the signal is ignored would be inherited by agents and their tools.
pub(crate) fn outlive_file_limits() {
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
}

fn turn() -> MutexGuard<'static, Option<(Canceller, Arc<AtomicBool>)>> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether it is time to go.
pub(crate) fn leaving() -> bool {
    LEAVING.load(Ordering::Relaxed)
}

/// A turn that signals stop, until this is dropped.
pub(crate) struct Running;

impl Running {
    pub(crate) fn begin(canceller: Canceller, stopped: Arc<AtomicBool>) -> Self {
        *turn() = Some((canceller, stopped));
        Self
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        *turn() = None;
    }
}
