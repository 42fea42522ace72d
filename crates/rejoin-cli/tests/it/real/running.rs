//! A turn on its way.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Instant;

use rejoin_testkit::Outcome;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::files::files_with;
use super::processes::{PATIENCE, eventually};
use super::stage::Stage;
use super::turn::Turn;

/// A `rejoin run` that has begun. If the test fails it is killed.
pub(super) struct Running<'a> {
    stage: &'a Stage,
    calls_before: usize,
    child: Child,
    lines: Receiver<String>,
    seen: String,
    stderr: Option<JoinHandle<String>>,
}

impl<'a> Running<'a> {
    #[track_caller]
    pub(super) fn start(stage: &'a Stage, calls_before: usize, command: &mut Command, prompt: &str) -> Self {
        let mut child = command.spawn().expect("rejoin");
        let mut stdin = child.stdin.take().expect("stdin");
        stdin.write_all(prompt.as_bytes()).expect("the prompt is read");
        drop(stdin);
        let stdout = BufReader::new(child.stdout.take().expect("stdout"));
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let mut stderr = child.stderr.take().expect("stderr");
        let stderr = std::thread::spawn(move || {
            let mut text = String::new();
            let _ = stderr.read_to_string(&mut text);
            text
        });
        Self { stage, calls_before, child, lines, seen: String::new(), stderr: Some(stderr) }
    }

    /// Waits for an event.
    #[track_caller]
    pub(super) fn until(mut self, what: impl Fn(&Value) -> bool) -> Self {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(line) = self.lines.recv_timeout(left) else {
                panic!("it never happened; what happened:\n{}", self.seen);
            };
            self.seen.push_str(&line);
            self.seen.push('\n');
            if serde_json::from_str(&line).is_ok_and(|event| what(&event)) {
                return self;
            }
        }
    }

    /// Waits until the model has been asked for this turn.
    #[track_caller]
    pub(super) fn until_the_model_is_asked(self) -> Self {
        let asked = self.stage.lab.model().wait_for_calls(self.calls_before + 1, PATIENCE);
        assert!(asked, "the model was never asked");
        self
    }

    /// Waits until a process with this in its command line runs in the laboratory.
    #[track_caller]
    pub(super) fn until_this_runs(self, what: &str) -> Self {
        let runs = eventually(PATIENCE, || !self.stage.alive(what).is_empty());
        assert!(runs, "{what} never ran");
        self
    }

    /// Waits until this is written down.
    #[track_caller]
    pub(super) fn until_the_journal_has(self, what: &str) -> Self {
        let journals = self.stage.rejoin_home().join("projects");
        let written = eventually(PATIENCE, || !files_with(&journals, what).is_empty());
        assert!(written, "{what} was never written down");
        self
    }

    pub(super) fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).expect("a process id");
        kill_process(pid, signal).expect("it runs");
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Kills rejoin itself with -9 and waits until everything below it is gone, too.
    #[track_caller]
    pub(super) fn kill(mut self) {
        self.signal(Signal::KILL);
        self.child.wait().expect("it ended");
        self.stage.nothing_is_left_running();
    }

    /// Waits for its end.
    #[track_caller]
    pub(super) fn finish(mut self) -> Turn {
        let status = self.wait();
        while let Ok(line) = self.lines.recv() {
            self.seen.push_str(&line);
            self.seen.push('\n');
        }
        let stderr = self.stderr.take().and_then(|thread| thread.join().ok()).unwrap_or_default();
        let stdout = std::mem::take(&mut self.seen);
        let outcome = Outcome { status, stdout, stderr, timed_out: false };
        Turn::read(self.stage, self.calls_before, &outcome)
    }

    #[track_caller]
    fn wait(&mut self) -> ExitStatus {
        let mut status = None;
        let ended = eventually(PATIENCE, || {
            status = self.child.try_wait().expect("a child");
            status.is_some()
        });
        assert!(ended, "it never ended; what happened:\n{}", self.seen);
        status.expect("a status")
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
