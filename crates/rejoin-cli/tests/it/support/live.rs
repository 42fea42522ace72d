use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;

use rejoin_testkit::Outcome;
use rustix::process::Signal;
use serde_json::Value;

use super::processes;
use super::{Bench, PATIENCE, Said, eventually};

/// A call that is running.
pub(crate) struct Live<'a> {
    bench: &'a Bench,
    child: Child,
    lines: Receiver<String>,
    heard: String,
    stderr: Receiver<String>,
}

impl<'a> Live<'a> {
    pub(super) fn start(bench: &'a Bench, mut command: Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (sender, lines) = channel();
        let stdout = child.stdout.take().unwrap();
        std::thread::spawn(move || {
            let mut stdout = BufReader::new(stdout);
            let mut line = String::new();
            while stdout.read_line(&mut line).is_ok_and(|count| count > 0) {
                if sender.send(std::mem::take(&mut line)).is_err() {
                    return;
                }
            }
        });
        let (sender, stderr) = channel();
        let mut stream = child.stderr.take().unwrap();
        std::thread::spawn(move || {
            let mut text = Vec::new();
            let _ = stream.read_to_end(&mut text);
            let _ = sender.send(String::from_utf8_lossy(&text).into_owned());
        });
        Self { bench, child, lines, heard: String::new(), stderr }
    }

    /// Waits for an event of this type, and gives it.
    #[track_caller]
    pub(crate) fn hears(&mut self, kind: &str) -> Value {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(left);
            let line = line.unwrap_or_else(|_| panic!("no {kind:?} came:\n{}", self.heard));
            self.heard.push_str(&line);
            let event: Value = serde_json::from_str(&line).unwrap_or_default();
            if event["type"] == kind {
                return event;
            }
        }
    }

    /// Waits until Ctrl-C is taken notice of.
    #[track_caller]
    pub(crate) fn listens(&self) {
        let bit = 1_u64 << (Signal::INT.as_raw() - 1);
        eventually("a handler of signals", || {
            let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).ok()?;
            let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"))?;
            (u64::from_str_radix(caught.trim(), 16).ok()? & bit != 0).then_some(())
        });
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        processes::signal(self.pid(), signal);
    }

    /// As Ctrl-C does.
    pub(crate) fn interrupt(&self) {
        self.signal(Signal::INT);
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Waits for its end, which must be this exit code.
    #[track_caller]
    pub(crate) fn ends(mut self, code: i32) -> Said {
        let status: ExitStatus = eventually("the end of rejoin", || self.child.try_wait().unwrap());
        self.heard.extend(self.lines.iter());
        let stderr = self.stderr.recv_timeout(PATIENCE).unwrap();
        let stdout = std::mem::take(&mut self.heard);
        Said::new(self.bench, Outcome { status, stdout, stderr, timed_out: false }).has_code(code)
    }
}
