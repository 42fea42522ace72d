//! Other processes, and the end of this one.

use std::fmt::Write as _;
use std::io::{self, Read};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::input::{Inbox, Interrupted};

/// What is kept of a tool's output.
const KEPT: usize = 64 * 1024;

/// What a tool gave.
pub(crate) struct Ran {
    pub(crate) output: String,
    pub(crate) failed: bool,
}

/// Runs a command as a process group of its own; an interrupt ends the group.
pub(crate) fn run(command: &str, inbox: &Inbox) -> Result<Ran, Interrupted> {
    let (mut child, output) = match spawn(command) {
        Ok(spawned) => spawned,
        Err(error) => return Ok(Ran { output: format!("cannot run sh: {error}"), failed: true }),
    };
    let mut wait = Duration::from_micros(500);
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) => {}
            Err(error) => return Ok(Ran { output: format!("cannot wait for sh: {error}"), failed: true }),
        }
        if let Err(interrupted) = inbox.pause(wait) {
            kill(&format!("-{}", child.id()));
            let _ = child.wait();
            return Err(interrupted);
        }
        wait = (wait * 2).min(Duration::from_millis(20));
    };
    // The end of the command counts, not that of its output: a background process may hold that open.
    let mut output = output.recv_timeout(Duration::from_millis(200)).unwrap_or_default();
    if !status.success() {
        let newline = if output.is_empty() || output.ends_with('\n') { "" } else { "\n" };
        let _ = write!(output, "{newline}[{}]", how(status));
    }
    Ok(Ran { output, failed: !status.success() })
}

fn spawn(command: &str) -> io::Result<(Child, mpsc::Receiver<String>)> {
    let (reader, writer) = io::pipe()?;
    let child = Command::new("sh")
        .arg("-c")
        .arg(command)
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .process_group(0)
        .spawn()?;
    let (sender, receiver) = mpsc::channel();
    thread::Builder::new().spawn(move || sender.send(read(reader)))?;
    Ok((child, receiver))
}

/// Reads to the end, and keeps the beginning.
fn read(mut from: impl Read) -> String {
    let mut kept = Vec::new();
    let mut dropped = 0;
    let mut buffer = [0; 8192];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        let room = count.min(KEPT - kept.len());
        kept.extend_from_slice(&buffer[..room]);
        dropped += count - room;
    }
    let mut text = String::from_utf8_lossy(&kept).into_owned();
    if dropped > 0 {
        let _ = write!(text, "\n[{dropped} more bytes]\n");
    }
    text
}

fn how(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "unknown end".to_owned(),
    }
}

/// Leaves a process behind, in a session of its own. Gives its id.
pub(crate) fn leave(time: Duration, hold: bool) -> io::Result<u32> {
    let stdout = || if hold { Stdio::inherit() } else { Stdio::null() };
    let start = |command: &mut Command| {
        command
            .arg(time.as_secs_f64().to_string())
            .stdin(Stdio::null())
            .stdout(stdout())
            .stderr(Stdio::null())
            .spawn()
    };
    let child = match start(Command::new("setsid").arg("sleep")) {
        // Not every system has `setsid`; a group of its own is the next best thing.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            start(Command::new("sleep").process_group(0))?
        }
        child => child?,
    };
    Ok(child.id())
}

/// Dies as by `kill -9`.
pub(crate) fn die() -> ! {
    kill(&std::process::id().to_string());
    std::process::abort()
}

/// Kills a process, or a group if there is a minus in front. Without unsafe code only a shell can.
fn kill(target: &str) {
    let _ = Command::new("sh")
        .args(["-c", "kill -s KILL -- \"$1\"", "kill", target])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
}

/// Prints the end line and lives on, deaf to everything but SIGKILL. Becomes another program, since
/// signals can be ignored without unsafe code only in a shell; so it comes back only if that fails.
pub(crate) fn linger(end: &str, time: Duration) -> io::Error {
    let script = r#"trap "" TERM INT HUP QUIT PIPE USR1 USR2; printf %s "$1"; exec sleep "$2""#;
    Command::new("sh").args(["-c", script, "demo", end, &time.as_secs_f64().to_string()]).exec()
}

/// Silence. The hour is there so that one that was forgotten goes away.
pub(crate) fn hang() -> i32 {
    thread::sleep(Duration::from_hours(1));
    1
}
