//! rejoin's side: a running agent, its three streams and its supervisor.

use std::ffi::OsString;
use std::io::{ErrorKind, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use rustix::process::{WaitId, WaitIdOptions, WaitIdStatus, waitid};

use super::frames;
use super::left::{self, Left};
use super::main::{Reach, supervise};
use super::processes::to_pid;
use super::protocol::{Command, Message, Report, Spec};

/// Who supervises the agents.
#[derive(Clone, Debug)]
pub enum Helper {
    /// This executable, called with the hidden subcommand.
    Executable(PathBuf),
    /// Nobody but a thread: children may outlive a killed rejoin.
    Thread,
}

/// What to run.
pub(crate) struct LaunchSpec<'a> {
    pub(crate) argv: Vec<OsString>,
    pub(crate) env: Vec<(String, OsString)>,
    pub(crate) remove_env: Vec<String>,
    pub(crate) dir: &'a Path,
    /// What holds the leases of its first turn.
    pub(crate) leases: Vec<BorrowedFd<'a>>,
    /// What its processes carry in their environment.
    pub(crate) mark: String,
}

/// A running agent below its supervisor.
pub(crate) struct Supervised {
    pub(crate) stdin: Option<OwnedFd>,
    pub(crate) stdout: OwnedFd,
    pub(crate) stderr: OwnedFd,
    /// Reports come from here; when it is closed, everything below ends.
    pub(crate) control: UnixStream,
    process: Option<Child>,
    mark: String,
    /// Which turn of this process is under way, and whether its leases are held by the supervisor as well.
    turn: u32,
    holds_leases: bool,
    /// The beginning of a report that is not all there yet.
    unread: Vec<u8>,
}

/// The hidden subcommand of the helper executable.
pub const SUPERVISE: &str = "__supervise";

impl Supervised {
    /// Starts the supervisor, gives it the leases of the first turn, and tells it what to run. Whether the agent
    /// itself could be started comes as a report.
    pub(crate) fn start(helper: &Helper, launch: LaunchSpec<'_>) -> std::io::Result<Self> {
        // Of the size the system gives: larger ones use up what a user may have of them.
        let (stdin_read, stdin) = std::io::pipe()?;
        let (stdout, stdout_write) = std::io::pipe()?;
        let (stderr, stderr_write) = std::io::pipe()?;
        let (control, theirs) = UnixStream::pair()?;
        let process = match helper {
            Helper::Executable(path) => Some(
                std::process::Command::new(path)
                    .arg(SUPERVISE)
                    .stdin(Stdio::from(OwnedFd::from(theirs)))
                    .stdout(Stdio::null())
                    .stderr(Stdio::null())
                    .spawn()?,
            ),
            Helper::Thread => {
                std::thread::Builder::new().spawn(move || supervise(theirs, Reach::Group))?;
                None
            }
        };
        let spec = Spec {
            argv: launch.argv.into_iter().map(OsString::into_vec).collect(),
            env: launch.env.into_iter().map(|(name, value)| (name, value.into_vec())).collect(),
            remove_env: launch.remove_env,
            dir: launch.dir.as_os_str().to_owned().into_vec(),
            mark: launch.mark.clone(),
        };
        let mut supervised = Self {
            stdin: Some(stdin.into()),
            stdout: stdout.into(),
            stderr: stderr.into(),
            control,
            process,
            mark: launch.mark,
            turn: 0,
            holds_leases: false,
            unread: Vec::new(),
        };
        // In this order: nothing runs before its leases are held by who would end it.
        supervised.begin_turn(&launch.leases)?;
        let streams = [stdin_read.as_fd(), stdout_write.as_fd(), stderr_write.as_fd()];
        frames::send(&supervised.control, &Message::Start(Box::new(spec)), &streams)?;
        Ok(supervised)
    }

    /// A turn begins: what holds its leases is handed on. Nothing is to be said to the agent before the supervisor
    /// [holds](Self::holds_leases) them; until then, and as long as it is ours to say, we hold them ourselves.
    pub(crate) fn begin_turn(&mut self, leases: &[BorrowedFd<'_>]) -> std::io::Result<()> {
        self.turn += 1;
        self.holds_leases = false;
        frames::send(&self.control, &Message::BeginTurn { turn: self.turn }, leases)
    }

    /// The turn is over: the supervisor lets go of its leases, whatever the process does from now on. Done when it
    /// no longer [holds](Self::holds_leases) them, or is gone.
    pub(crate) fn end_turn(&mut self) {
        let _ = frames::send(&self.control, &Message::EndTurn { turn: self.turn }, &[]);
    }

    /// Whether the supervisor holds the leases of the present turn, as far as its [reports](Self::read_reports) were
    /// read.
    pub(crate) fn holds_leases(&self) -> bool {
        self.holds_leases
    }

    /// Tells the supervisor something. It may be gone already; then its streams tell.
    pub(crate) fn tell(&mut self, command: Command) {
        let _ = frames::send(&self.control, &Message::Do(command), &[]);
    }

    /// What the supervisor said. Nothing if it is gone.
    pub(crate) fn read_reports(&mut self) -> Option<Vec<Report>> {
        let mut buffer = [0; 4096];
        match self.control.read(&mut buffer) {
            Ok(0) => return None,
            Ok(count) => self.unread.extend_from_slice(&buffer[..count]),
            Err(_) => {}
        }
        Some(self.take_reports())
    }

    fn take_reports(&mut self) -> Vec<Report> {
        let whole = self.unread.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let lines: Vec<u8> = self.unread.drain(..whole).collect();
        let lines = lines.split(|byte| *byte == b'\n');
        let reports: Vec<Report> = lines.filter_map(|line| serde_json::from_slice(line).ok()).collect();
        for report in &reports {
            match report {
                Report::TurnBegun { turn } if *turn == self.turn => self.holds_leases = true,
                Report::TurnEnded { turn } if *turn == self.turn => self.holds_leases = false,
                _ => {}
            }
        }
        reports
    }

    /// What the supervisor still has to say before it goes.
    pub(crate) fn last_reports(&mut self) -> Vec<Report> {
        let patient = self.control.set_nonblocking(false).is_ok()
            && self.control.set_read_timeout(Some(Duration::from_secs(5))).is_ok();
        if patient {
            let _ = self.control.read_to_end(&mut self.unread);
        }
        self.take_reports()
    }

    /// Waits until the supervisor itself is gone. If it was killed, what it can no longer end is ended
    /// here, and told, once.
    pub(crate) fn wait(&mut self) -> Option<Left> {
        self.wait_for(PATIENCE)
    }

    fn wait_for(&mut self, patience: Duration) -> Option<Left> {
        self.process.as_ref()?;
        if !self.closes_within(patience) {
            self.kill_supervisor();
        }
        let mut process = self.process.take()?;
        let was_killed = !ended_well(process.id());
        // Before it is waited for: until then its number, which is that of its session, is nobody else's.
        let left = was_killed.then(|| left::end(Some(process.id()), std::slice::from_ref(&self.mark)));
        let _ = process.wait();
        left
    }
}

impl Supervised {
    /// Ends the supervisor itself, which does not answer: what it can no longer end is then ended here.
    pub(crate) fn kill_supervisor(&mut self) {
        if let Some(process) = &mut self.process {
            let _ = process.kill();
        }
    }

    /// Whether the supervisor closes its end of the socket, which it does when it goes.
    fn closes_within(&mut self, patience: Duration) -> bool {
        let patient = self.control.set_nonblocking(false).is_ok()
            && self.control.set_read_timeout(Some(patience)).is_ok();
        if !patient {
            return true;
        }
        loop {
            match self.control.read(&mut [0; 1024]) {
                Ok(0) => return true,
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // Whatever else goes wrong with a socket, nobody is at its other end.
                Err(error) => return !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
            }
        }
    }
}

/// How long a supervisor may take that was told to end everything. It gives up by itself after half of that,
/// so one that takes longer stands still.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

impl Drop for Supervised {
    /// On any way out that did not wait: nothing of it lives on, and no zombie stays.
    fn drop(&mut self) {
        if self.process.is_some() {
            self.tell(Command::Kill);
            let _ = self.control.shutdown(std::net::Shutdown::Write);
            self.wait();
        }
    }
}

/// Waits for the supervisor's end without taking its number away: whether it ended as it should.
fn ended_well(pid: u32) -> bool {
    let Some(pid) = to_pid(pid) else { return true };
    loop {
        match waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
            Err(rustix::io::Errno::INTR) => {}
            status => {
                let status = status.ok().flatten();
                return status.is_none_or(|status| WaitIdStatus::exit_status(&status) == Some(0));
            }
        }
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    fn start(helper: &Path) -> std::io::Result<Supervised> {
        let launch = LaunchSpec {
            argv: vec!["true".into()],
            env: Vec::new(),
            remove_env: Vec::new(),
            dir: Path::new("/"),
            leases: Vec::new(),
            mark: uuid::Uuid::new_v4().to_string(),
        };
        Supervised::start(&Helper::Executable(helper.to_owned()), launch)
    }

    /// What is left of children of ours with this name, dead ones included.
    fn children(name: &str) -> Vec<String> {
        let (name, parent) = (format!("Name:\t{name}\n"), format!("\nPPid:\t{}\n", std::process::id()));
        let entries = std::fs::read_dir("/proc").unwrap().flatten();
        let statuses = entries.filter_map(|entry| std::fs::read_to_string(entry.path().join("status")).ok());
        statuses.filter(|status| status.starts_with(&name) && status.contains(&parent)).collect()
    }

    /// A program in the place of the supervisor, under a name of its own.
    fn helper(dir: &Path, name: &str, program: &str) -> PathBuf {
        let helper = dir.join(name);
        let found = std::env::split_paths(&std::env::var_os("PATH").unwrap())
            .map(|dir| dir.join(program))
            .find(|file| file.exists());
        std::os::unix::fs::symlink(found.unwrap(), &helper).unwrap();
        helper
    }

    /// One that was stopped ends nothing, says nothing and does not go.
    #[test]
    fn a_supervisor_that_stands_still_is_not_waited_for_for_ever() {
        let dir = tempfile::tempdir().unwrap();
        let name = format!("still-{}", std::process::id() % 10_000);
        let mut supervised = start(&helper(dir.path(), &name, "grep")).unwrap();
        let pid = to_pid(supervised.process.as_ref().unwrap().id()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
        supervised.tell(Command::Kill);
        assert!(supervised.wait_for(Duration::from_millis(20)).is_some(), "it was killed, and says so");
        assert_eq!(children(&name), [""; 0]);
    }

    /// However a start or a run goes wrong, the supervisor is waited for.
    #[test]
    fn no_supervisor_stays_behind_when_it_is_dropped() {
        let dir = tempfile::tempdir().unwrap();
        // One goes at once, and is perhaps gone before it is told what to run; one stays until it is let go.
        for (number, program) in ["true", "grep"].into_iter().enumerate() {
            let name = format!("drop{number}-{}", std::process::id() % 10_000);
            let helper = helper(dir.path(), &name, program);
            for _ in 0..3 {
                drop(start(&helper));
            }
            assert_eq!(children(&name), [""; 0], "{program}");
        }
    }
}
