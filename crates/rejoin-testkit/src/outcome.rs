//! Running a program to its end with a time limit, whatever it leaves behind.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;

/// How a program ended and what it said.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The exit status.
    pub status: ExitStatus,
    /// All of stdout; bytes that are not UTF-8 are replaced.
    pub stdout: String,
    /// All of stderr; bytes that are not UTF-8 are replaced.
    pub stderr: String,
    /// The time limit was over and the process group was killed.
    pub timed_out: bool,
}

impl Outcome {
    /// The exit code, `None` after a signal.
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// The lines of stdout that are JSON.
    pub fn json_lines(&self) -> Vec<Value> {
        self.stdout.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// Itself, after making sure that the program ended well.
    #[track_caller]
    pub fn assert_success(self) -> Self {
        assert!(
            self.status.success() && !self.timed_out,
            "the program failed: {} (timed out: {})\n--- stdout\n{}\n--- stderr\n{}",
            self.status,
            self.timed_out,
            self.stdout,
            self.stderr
        );
        self
    }
}

/// Runs a command in a process group of its own, writes `stdin` and closes it, and collects the output. When the
/// limit is over the whole group is killed. A grandchild that keeps the pipes open cannot hold this up.
pub fn run_to_end(command: &mut Command, stdin: &[u8], limit: Duration) -> io::Result<Outcome> {
    let mut child = command
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    if let Some(mut pipe) = child.stdin.take() {
        let input = stdin.to_vec();
        // A program that ends without reading its input is no error here.
        thread::spawn(move || drop(pipe.write_all(&input)));
    }
    let stdout = collect(child.stdout.take());
    let stderr = collect(child.stderr.take());
    let deadline = Instant::now() + limit;
    let (status, timed_out) = wait_until(&mut child, deadline)?;
    Ok(Outcome { status, stdout: text_of(&stdout), stderr: text_of(&stderr), timed_out })
}

fn wait_until(child: &mut Child, deadline: Instant) -> io::Result<(ExitStatus, bool)> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((status, false));
        }
        if Instant::now() >= deadline {
            if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
                kill_process_group(group, Signal::KILL)?;
            }
            return Ok((child.wait()?, true));
        }
        thread::sleep(Duration::from_millis(10));
    }
}

fn collect(pipe: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    if let Some(mut pipe) = pipe {
        thread::spawn(move || {
            let mut buffer = [0; 8192];
            while let Ok(read @ 1..) = pipe.read(&mut buffer) {
                if sender.send(buffer[..read].to_vec()).is_err() {
                    break;
                }
            }
        });
    }
    receiver
}

/// Everything until the pipe closes, or until nothing came for two seconds after the program's end.
fn text_of(pieces: &Receiver<Vec<u8>>) -> String {
    let mut all = Vec::new();
    while let Ok(piece) = pieces.recv_timeout(Duration::from_secs(2)) {
        all.extend(piece);
    }
    String::from_utf8_lossy(&all).into_owned()
}
