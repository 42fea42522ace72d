//! A demo agent with a store of its own, and what it printed.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// A place for sessions and files.
pub(crate) struct Demo {
    dir: TempDir,
    env: Vec<&'static str>,
}

/// A finished run.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

/// A run that is going on.
pub(crate) struct Running {
    pub(crate) child: Child,
    pub(crate) stdin: Option<ChildStdin>,
    pub(crate) stdout: BufReader<ChildStdout>,
}

impl Demo {
    pub(crate) fn new() -> Self {
        Self { dir: TempDir::new().unwrap(), env: Vec::new() }
    }

    /// Sets a variable to 1.
    pub(crate) fn env(mut self, name: &'static str) -> Self {
        self.env.push(name);
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn stored(&self, id: &str) -> PathBuf {
        self.path("store").join(format!("{id}.jsonl"))
    }

    /// Starts it without any argument but these.
    pub(crate) fn bare(&self, args: &[&str]) -> Running {
        let mut child = Command::new(env!("CARGO_BIN_EXE_rejoin-demo-agent"))
            .args(args)
            .envs(self.env.iter().map(|name| (name, "1")))
            .current_dir(self.dir.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Running { child, stdin, stdout }
    }

    pub(crate) fn start(&self, args: &[&str], prompt: &str) -> Running {
        let mut running = self.bare(&[args, &["--store", "store"]].concat());
        running.send(&json!({ "type": "prompt", "text": prompt }));
        running
    }

    pub(crate) fn run(&self, args: &[&str], prompt: &str) -> Ran {
        self.start(args, prompt).finish()
    }

    /// A turn in a session of its own.
    pub(crate) fn turn(&self, prompt: &str) -> Ran {
        self.run(&[], prompt)
    }
}

impl Running {
    /// A refused run may have gone before it reads.
    pub(crate) fn send(&mut self, line: &Value) {
        if let Some(stdin) = &mut self.stdin {
            let _ = stdin.write_all(format!("{line}\n").as_bytes());
        }
    }

    /// Reads until an event of this type came.
    pub(crate) fn until(&mut self, kind: &str) -> Value {
        loop {
            let mut line = String::new();
            assert!(self.stdout.read_line(&mut line).unwrap() > 0, "the output ended before {kind}");
            let event: Value = serde_json::from_str(&line).unwrap();
            if event["type"] == kind {
                return event;
            }
        }
    }

    /// Closes the input and waits.
    pub(crate) fn finish(mut self) -> Ran {
        drop(self.stdin.take());
        let mut stdout = Vec::new();
        std::io::Read::read_to_end(&mut self.stdout, &mut stdout).unwrap();
        let output = self.child.wait_with_output().unwrap();
        Ran {
            code: output.status.code(),
            stdout,
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    pub(crate) fn is_over(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Ran {
    /// The lines that are events.
    pub(crate) fn events(&self) -> Vec<Value> {
        self.stdout
            .split(|&byte| byte == b'\n')
            .filter_map(|line| serde_json::from_slice(line).ok())
            .collect()
    }

    pub(crate) fn all(&self, kind: &str) -> Vec<Value> {
        self.events().into_iter().filter(|event| event["type"] == kind).collect()
    }

    pub(crate) fn one(&self, kind: &str) -> Value {
        let all = self.all(kind);
        assert_eq!(all.len(), 1, "{kind} in {}", String::from_utf8_lossy(&self.stdout));
        all[0].clone()
    }

    /// The text of the last block.
    pub(crate) fn answer(&self) -> String {
        self.all("message").last().unwrap()["text"].as_str().unwrap().to_owned()
    }

    /// The line for tests.
    pub(crate) fn seen(&self) -> String {
        self.answer().lines().find(|line| line.starts_with("SEEN")).unwrap().to_owned()
    }

    pub(crate) fn assert_ok(&self) {
        assert_eq!(self.events().last().unwrap(), &json!({ "type": "end", "ok": true }), "{}", self.stderr);
        assert_eq!(self.code, Some(0));
    }
}

/// Waits for something to become true.
pub(crate) fn eventually(what: &str, mut is: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(5);
    while !is() {
        assert!(Instant::now() < end, "{what} did not happen");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Whether a process lives.
pub(crate) fn lives(pid: &str) -> bool {
    signal("-0", pid)
}

pub(crate) fn signal(signal: &str, pid: &str) -> bool {
    Command::new("sh").args(["-c", "kill \"$0\" \"$1\" 2>/dev/null", signal, pid]).status().unwrap().success()
}
