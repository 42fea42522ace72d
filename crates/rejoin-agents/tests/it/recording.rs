//! A recorded run: the agent's lines, its last words, how it ended.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use rejoin_agents::{Exit, Line, Step};

use crate::requests::Begun;

/// Lines of output as they were; `stderr: …` lines; then `exit: <code>` or `signal: <number>`.
pub(crate) struct Recording {
    pub(crate) stdout: Vec<String>,
    pub(crate) stderr: String,
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
}

pub(crate) fn directory(agent: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/recordings").join(agent)
}

/// The names of an agent's recordings.
pub(crate) fn names(agent: &str) -> Vec<String> {
    let entries = fs::read_dir(directory(agent)).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> =
        names.filter_map(|name| name.strip_suffix(".log").map(str::to_owned)).collect();
    names.sort();
    names
}

impl Recording {
    pub(crate) fn load(agent: &str, name: &str) -> Self {
        let text = fs::read_to_string(directory(agent).join(format!("{name}.log"))).unwrap();
        let mut recording = Self { stdout: Vec::new(), stderr: String::new(), code: None, signal: None };
        for line in text.lines() {
            if let Some(words) = line.strip_prefix("stderr: ") {
                let _ = writeln!(recording.stderr, "{words}");
            } else if let Some(code) = line.strip_prefix("exit: ") {
                recording.code = Some(code.parse().unwrap());
            } else if let Some(signal) = line.strip_prefix("signal: ") {
                recording.signal = Some(signal.parse().unwrap());
            } else {
                recording.stdout.push(line.to_owned());
            }
        }
        recording
    }

    pub(crate) fn exit(&self) -> Exit<'_> {
        Exit { code: self.code, signal: self.signal, stderr: &self.stderr }
    }

    /// Every step of a driver that is fed this run.
    pub(crate) fn replay(&self, mut driver: Begun) -> Vec<Step> {
        let mut steps = Vec::new();
        driver.start(&mut steps);
        for line in &self.stdout {
            driver.on_line(Line::whole(line.as_bytes()), &mut steps);
        }
        driver.on_exit(&self.exit(), &mut steps);
        steps
    }
}

/// Steps for people, one line each.
pub(crate) fn shown(steps: &[Step]) -> String {
    let lines = steps.iter().map(|step| match step {
        Step::Emit(event) => serde_json::to_string(event).unwrap(),
        Step::Write(bytes) => format!("WRITE {}", String::from_utf8_lossy(bytes).trim_end()),
        Step::CloseStdin => "CLOSE".to_owned(),
        Step::Stored => "STORED".to_owned(),
        Step::Total(usage) => format!("TOTAL {}", serde_json::to_string(usage).unwrap()),
        Step::Rejected(words) => format!("REJECTED {words:?}"),
        Step::Waiting => "WAITING".to_owned(),
        Step::Ended(outcome) => format!("ENDED {}", serde_json::to_string(outcome).unwrap()),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// How many times a run was said to be over.
pub(crate) fn ends(steps: &[Step]) -> usize {
    steps.iter().filter(|step| matches!(step, Step::Ended(_) | Step::Rejected(_))).count()
}
