//! Processes that are named in files: a number alone may belong to somebody else by now.

use std::io;

use rustix::process::{Pid, Signal, test_kill_process};

/// A running process, told from a later one that got the same number.
#[derive(Debug)]
pub struct Process {
    pid: Pid,
    /// Where the system has them: a handle that a later process cannot take over.
    #[cfg(target_os = "linux")]
    handle: Option<std::os::fd::OwnedFd>,
}

impl Process {
    /// The process with this number, if it is there and was born at that time ([`birth`]). Where the
    /// system cannot tell when a process was born, the number has to do.
    pub fn find(pid: u32, born: Option<u64>) -> Option<Self> {
        let number = Pid::from_raw(i32::try_from(pid).ok()?)?;
        // Opened before it is looked at: what is looked at is then what was opened, or later.
        #[cfg(target_os = "linux")]
        let handle = rustix::process::pidfd_open(number, rustix::process::PidfdFlags::empty()).ok();
        let is_it = if can_tell() { born.is_some() && birth(pid) == born } else { exists(number) };
        is_it.then_some(Self {
            pid: number,
            #[cfg(target_os = "linux")]
            handle,
        })
    }

    /// Its number.
    pub fn pid(&self) -> u32 {
        self.pid.as_raw_nonzero().get().cast_unsigned()
    }

    /// Asks it to end.
    pub fn terminate(&self) -> io::Result<()> {
        self.signal(Signal::TERM)
    }

    /// Sends it a signal; `NotFound` if it is gone.
    pub fn signal(&self, signal: Signal) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        if let Some(handle) = &self.handle {
            return gone(rustix::process::pidfd_send_signal(handle, signal));
        }
        gone(rustix::process::kill_process(self.pid, signal))
    }
}

fn gone(sent: rustix::io::Result<()>) -> io::Result<()> {
    match sent {
        Err(rustix::io::Errno::SRCH) => Err(io::Error::new(io::ErrorKind::NotFound, "the process has ended")),
        sent => Ok(sent?),
    }
}

/// When a process was born, in the system's own count since it started; `None` if it is not there
/// (or has ended and only its parent has not noticed), and where the system does not tell.
#[cfg(target_os = "linux")]
pub fn birth(pid: u32) -> Option<u64> {
    // Of this process it never changes, and every lease names it.
    static OURS: std::sync::OnceLock<(u32, u64)> = std::sync::OnceLock::new();
    if let Some((_, born)) = OURS.get().filter(|(ours, _)| *ours == pid) {
        return Some(*born);
    }
    let born = birth_in_proc(pid)?;
    if pid == std::process::id() {
        let _ = OURS.set((pid, born));
    }
    Some(born)
}

#[cfg(target_os = "linux")]
fn birth_in_proc(pid: u32) -> Option<u64> {
    use std::io::Read;
    // One read: a file of the system's has no length to go by.
    let mut stat = [0; 4 << 10];
    let length = std::fs::File::open(format!("/proc/{pid}/stat")).ok()?.read(&mut stat).ok()?;
    let stat = &stat[..length];
    // `pid (name) state …`; the name may hold anything.
    let after_name = stat.iter().rposition(|byte| *byte == b')')? + 1;
    let mut fields = std::str::from_utf8(&stat[after_name..]).ok()?.split_whitespace();
    let dead = matches!(fields.next()?, "Z" | "X");
    fields.nth(18)?.parse().ok().filter(|_| !dead)
}

/// When a process was born; this system does not tell.
#[cfg(not(target_os = "linux"))]
pub fn birth(_pid: u32) -> Option<u64> {
    None
}

/// Whether births can be told here: Linux without its `/proc` cannot either.
fn can_tell() -> bool {
    birth(std::process::id()).is_some()
}

/// Whether a process has this number now, whoever it is.
pub(crate) fn number_is_taken(pid: u32) -> bool {
    i32::try_from(pid).ok().and_then(Pid::from_raw).is_some_and(exists)
}

fn exists(pid: Pid) -> bool {
    // Somebody else's process may not be signalled, but it is there.
    test_kill_process(pid) != Err(rustix::io::Errno::SRCH)
}
