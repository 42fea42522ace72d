//! rejoin's side: a running agent, its three streams and its supervisor.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use rustix::pipe::{PipeFlags, pipe_with};

use super::handshake;
use super::main::{Reach, supervise};
use super::protocol::{Command, Report, Spec};

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
    pub(crate) locks: Vec<BorrowedFd<'a>>,
}

/// A running agent below its supervisor.
pub(crate) struct Supervised {
    pub(crate) stdin: Option<OwnedFd>,
    pub(crate) stdout: OwnedFd,
    pub(crate) stderr: OwnedFd,
    /// Reports come from here; when it is closed, everything below ends.
    pub(crate) control: UnixStream,
    process: Option<Child>,
}

/// The hidden subcommand of the helper executable.
pub const SUPERVISE: &str = "__supervise";

impl Supervised {
    /// Starts the supervisor and tells it what to run. Whether the agent itself could be started
    /// comes as the first report.
    pub(crate) fn start(helper: &Helper, launch: LaunchSpec<'_>) -> std::io::Result<Self> {
        let (stdin_read, stdin) = pipe_with(PipeFlags::CLOEXEC)?;
        let (stdout, stdout_write) = pipe_with(PipeFlags::CLOEXEC)?;
        let (stderr, stderr_write) = pipe_with(PipeFlags::CLOEXEC)?;
        // Fewer, larger reads for agents that print a lot; a refusal costs nothing but speed.
        #[cfg(target_os = "linux")]
        let _ = rustix::pipe::fcntl_setpipe_size(&stdout, 1 << 20);
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
                std::thread::spawn(move || supervise(theirs, Reach::Group));
                None
            }
        };
        let spec = Spec {
            argv: launch.argv.into_iter().map(OsString::into_vec).collect(),
            env: launch.env.into_iter().map(|(name, value)| (name, value.into_vec())).collect(),
            remove_env: launch.remove_env,
            dir: launch.dir.as_os_str().to_owned().into_vec(),
        };
        let mut descriptors = vec![stdin_read.as_fd(), stdout_write.as_fd(), stderr_write.as_fd()];
        descriptors.extend(launch.locks);
        handshake::send(&control, &spec, &descriptors)?;
        Ok(Self { stdin: Some(stdin), stdout, stderr, control, process })
    }

    /// Tells the supervisor something. It may be gone already; then its streams tell.
    pub(crate) fn tell(&mut self, command: Command) {
        if let Ok(mut line) = serde_json::to_vec(&command) {
            line.push(b'\n');
            let _ = self.control.write_all(&line);
        }
    }

    /// What the supervisor still has to say before it goes.
    pub(crate) fn last_reports(&mut self) -> Vec<Report> {
        let patient = self.control.set_nonblocking(false).is_ok()
            && self.control.set_read_timeout(Some(Duration::from_secs(5))).is_ok();
        let mut text = String::new();
        if patient {
            let _ = self.control.read_to_string(&mut text);
        }
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// Waits until the supervisor itself is gone.
    pub(crate) fn wait(&mut self) {
        if let Some(process) = &mut self.process {
            let _ = process.wait();
        }
    }
}
