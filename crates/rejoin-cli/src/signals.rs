//! Signals while a person sits at the terminal: Ctrl-C stops the turn, the end of the terminal ends everything.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, Once, OnceLock, PoisonError};
use std::time::Duration;

use rejoin::Canceller;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};

use crate::status_line::StatusHandle;
use crate::{exit, tty};

/// The turn that is running.
static TURN: Mutex<Option<Stoppable>> = Mutex::new(None);
static LEAVING: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);
static ONCE: Once = Once::new();
/// Where signals are written to, and how often it was asked whether all of them were heard.
static PIPE: OnceLock<UnixStream> = OnceLock::new();
static HEARD: (Mutex<u64>, Condvar) = (Mutex::new(0), Condvar::new());

/// Asks whether all signals before it were heard; a signal is another byte.
const QUESTION: u8 = 0;

/// A turn that can be stopped.
struct Stoppable {
    canceller: Canceller,
    /// Whether it was told to.
    stopped: Arc<AtomicBool>,
    /// Where that is answered.
    status: Option<StatusHandle>,
}

/// Takes care of signals from now on.
pub(crate) fn watch() -> std::io::Result<()> {
    let mut done = Ok(());
    ONCE.call_once(|| done = begin());
    done
}

fn begin() -> std::io::Result<()> {
    let (mut ours, theirs) = UnixStream::pair()?;
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // Under `nohup` a turn outlives the terminal.
        if signal == SIGHUP && is_ignored(signal) {
            continue;
        }
        if signal != SIGINT {
            signal_hook::flag::register(signal, Arc::clone(&LEAVING))?;
        }
        signal_hook::low_level::pipe::register(signal, theirs.try_clone()?)?;
    }
    let _ = PIPE.set(theirs);
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        let mut byte = [0];
        while ours.read(&mut byte).is_ok_and(|count| count > 0) {
            if byte == [QUESTION] {
                *HEARD.0.lock().unwrap_or_else(PoisonError::into_inner) += 1;
                HEARD.1.notify_all();
                continue;
            }
            match &*turn() {
                Some(Stoppable { canceller, stopped, status }) => {
                    stopped.store(true, Ordering::Relaxed);
                    canceller.cancel();
                    if let Some(status) = status {
                        status.stopping();
                    }
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

/// Waits until the signals that came were heard: a Ctrl-C that ended a command of the shell is not to stop the next
/// turn.
pub(crate) fn hear_all() {
    let Some(mut pipe) = PIPE.get() else { return };
    let heard = HEARD.0.lock().unwrap_or_else(PoisonError::into_inner);
    let before = *heard;
    if pipe.write_all(&[QUESTION]).is_ok() {
        drop(HEARD.1.wait_timeout_while(heard, Duration::from_secs(1), |heard| *heard == before));
    }
}

/// A file that may not grow further (`ulimit -f`) becomes an error of the write instead of our death. By a handler:
/// that the signal is ignored would be inherited by agents and their tools.
pub(crate) fn outlive_file_limits() {
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
}

/// Whether our caller wants a signal ignored, where the system can tell (Linux).
pub(crate) fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

fn turn() -> MutexGuard<'static, Option<Stoppable>> {
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
        *turn() = Some(Stoppable { canceller, stopped, status: None });
        Self
    }

    /// That it was told to stop is answered there.
    pub(crate) fn telling(self, status: StatusHandle) -> Self {
        if let Some(turn) = &mut *turn() {
            turn.status = Some(status);
        }
        self
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        *turn() = None;
    }
}
