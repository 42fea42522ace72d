//! A home of rejoin's and a project, and commands on them, with and without a fault.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use super::fault::Fault;
use super::power;
use super::report::{Ended, Report};
use super::state::{Conversation, Stamp};
use super::tracer::Tracer;

/// What came of a command without a fault.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// What came of one with a fault.
#[derive(Debug)]
pub(crate) struct Traced {
    pub(crate) report: Report,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// What came of the command that was run in the middle of it.
    pub(crate) meanwhile: Option<Said>,
}

impl Traced {
    pub(crate) fn succeeded(&self) -> bool {
        self.report.ended == Ended::Exit(0)
    }
}

/// What is called, and what is typed or piped into it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Call {
    pub(crate) args: Vec<String>,
    pub(crate) stdin: String,
    /// Lines for `rejoin chat`, which wants a terminal.
    pub(crate) typed: Option<Vec<String>>,
}

impl Call {
    pub(crate) fn new(args: &[&str]) -> Self {
        Self { args: args.iter().map(|arg| (*arg).to_owned()).collect(), ..Self::default() }
    }

    pub(crate) fn stdin(mut self, text: &str) -> Self {
        text.clone_into(&mut self.stdin);
        self
    }
}

/// The world of one worker. What counts as "below" for a fault is [`World::root`].
pub(crate) struct World {
    rejoin: PathBuf,
    base: TempDir,
    /// The project's directory has a number, because `mv` moves it.
    project: usize,
    /// What rejoin showed of journals in a certain state.
    shown: RefCell<HashMap<(String, Stamp), Conversation>>,
}

/// Longer than anything takes on a busy machine.
const LIMIT: Duration = Duration::from_mins(1);
/// Two seconds for processes that end by themselves, and as much again for a busy machine.
const GRACE: Duration = Duration::from_secs(5);

impl World {
    /// An empty one, in memory where that is possible: a sync then costs nothing.
    pub(crate) fn new(rejoin: &Path) -> Result<Self> {
        let memory = Path::new("/dev/shm");
        let base = if memory.is_dir() { TempDir::new_in(memory) } else { TempDir::new() };
        let base = base.context("cannot make a directory for the attack")?;
        let world = Self { rejoin: rejoin.to_owned(), base, project: 0, shown: RefCell::default() };
        for dir in [world.root(), world.home(), world.project(), world.temporary(), world.outside()] {
            fs::create_dir_all(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
        }
        Ok(world)
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.base.path().join("world")
    }

    /// `$REJOIN_HOME`.
    pub(crate) fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.root().join(format!("project{}", self.project))
    }

    pub(crate) fn temporary(&self) -> PathBuf {
        self.root().join("tmp")
    }

    /// A directory in which no fault happens.
    pub(crate) fn outside(&self) -> PathBuf {
        self.base.path().join("outside")
    }

    /// Moves the project's directory, as a user would; gives both.
    pub(crate) fn move_project(&mut self) -> Result<(PathBuf, PathBuf)> {
        let from = self.project();
        self.project += 1;
        let to = self.project();
        fs::rename(&from, &to).context("cannot move the project")?;
        Ok((from, to))
    }

    /// What rejoin showed of a conversation when its journal was the same.
    pub(crate) fn shown(&self, id: &str, stamp: Option<Stamp>) -> Option<Conversation> {
        self.shown.borrow().get(&(id.to_owned(), stamp?)).cloned()
    }

    pub(crate) fn note_shown(&self, conversation: &Conversation, stamp: Option<Stamp>) {
        if let Some(stamp) = stamp {
            self.shown.borrow_mut().insert((conversation.id.clone(), stamp), conversation.clone());
        }
    }

    /// Keeps the world as it is now, to come back to it.
    pub(crate) fn save(&self) -> Result<()> {
        copy(&self.root(), &self.base.path().join("saved"))
    }

    /// Makes the world what it was.
    pub(crate) fn restore(&self) -> Result<()> {
        copy(&self.base.path().join("saved"), &self.root())
    }

    /// Keeps what is left for whoever looks for the cause.
    pub(crate) fn keep(&self, at: &Path) -> Result<()> {
        if let Some(parent) = at.parent() {
            fs::create_dir_all(parent)?;
        }
        copy(self.base.path(), at)
    }

    fn environment(&self, command: &mut Command) {
        command
            .current_dir(self.project())
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.root().join("user"))
            .env("TMPDIR", self.temporary())
            .env("REJOIN_HOME", self.home())
            .env("TERM", "dumb")
            .env("LANG", "C.UTF-8");
    }

    /// Calls rejoin, nothing being wrong.
    pub(crate) fn rejoin(&self, call: &Call) -> Result<Said> {
        let mut command = Command::new(&self.rejoin);
        command.args(&call.args);
        self.environment(&mut command);
        let (code, stdout, stderr) = run(&mut command, &call.stdin)?;
        Ok(Said { code, stdout, stderr })
    }

    /// The same in another home, for what comes from there.
    pub(crate) fn elsewhere(&self, home: &str, call: &Call) -> Result<Said> {
        let mut command = Command::new(&self.rejoin);
        command.args(&call.args);
        self.environment(&mut command);
        command.env("REJOIN_HOME", self.outside().join(home));
        let (code, stdout, stderr) = run(&mut command, &call.stdin)?;
        Ok(Said { code, stdout, stderr })
    }

    /// Calls rejoin with a fault, or only counts its system calls.
    pub(crate) fn traced(&self, tracer: &Tracer, call: &Call, fault: Option<&Fault>) -> Result<Traced> {
        self.traced_with(tracer, call, fault, None)
    }

    /// The same, with another command that is run in the middle of it if the fault says so.
    pub(crate) fn traced_with(
        &self,
        tracer: &Tracer,
        call: &Call,
        fault: Option<&Fault>,
        meanwhile: Option<&Call>,
    ) -> Result<Traced> {
        let script = self.base.path().join("meanwhile");
        if let Some(other) = meanwhile {
            self.write_script(&script, other)?;
        }
        let report = self.base.path().join("report");
        let spec = fault.map_or_else(|| "count".to_owned(), Fault::spec);
        let before = power::lengths(self);
        let mut words = vec![
            tracer.program().display().to_string(),
            report.display().to_string(),
            self.root().display().to_string(),
            LIMIT.as_millis().to_string(),
            GRACE.as_millis().to_string(),
            spec,
            self.rejoin.display().to_string(),
        ];
        words.extend(call.args.iter().cloned());
        let (stdout, stderr) = match &call.typed {
            None => {
                let mut command = Command::new(&words[0]);
                command.args(&words[1..]);
                self.environment(&mut command);
                command.env("ATTACK_MEANWHILE", &script);
                let (code, stdout, stderr) = run(&mut command, &call.stdin)?;
                if code != Some(0) {
                    bail!("the tracer failed: {stderr}");
                }
                (stdout, stderr)
            }
            Some(lines) => (self.on_a_terminal(&words, lines)?, String::new()),
        };
        let report = fs::read_to_string(&report).context("the tracer wrote no report")?;
        let report = Report::parse(&report)?;
        if fault.is_some_and(|fault| fault.power) {
            power::lose(self, &before, &report)?;
        }
        let meanwhile = meanwhile.map(|_| Self::said_meanwhile(&script));
        Ok(Traced { report, stdout, stderr, meanwhile })
    }

    /// Who holds a lock meanwhile stands still: the other one does not wait for ever.
    fn write_script(&self, script: &Path, call: &Call) -> Result<()> {
        for old in ["out", "err", "code"] {
            let _ = fs::remove_file(script.with_extension(old));
        }
        let words: Vec<String> = std::iter::once(self.rejoin.display().to_string())
            .chain(call.args.iter().cloned())
            .map(|word| quoted(&word))
            .collect();
        let file = |extension: &str| quoted(&script.with_extension(extension).display().to_string());
        let text = format!(
            "timeout -s KILL 4 {} </dev/null >{} 2>{}; echo $? >{}\n",
            words.join(" "),
            file("out"),
            file("err"),
            file("code")
        );
        fs::write(script, text).context("cannot write a script")
    }

    /// `code` is none if it was not run.
    fn said_meanwhile(script: &Path) -> Said {
        let read = |extension: &str| fs::read_to_string(script.with_extension(extension)).unwrap_or_default();
        Said { code: read("code").trim().parse().ok(), stdout: read("out"), stderr: read("err") }
    }

    /// Runs a command on a terminal that `script` makes, and types a line whenever it asks for one.
    fn on_a_terminal(&self, words: &[String], lines: &[String]) -> Result<String> {
        let quoted: Vec<String> = words.iter().map(|word| quoted(word)).collect();
        let mut command = Command::new("script");
        command.args(["-qec", &format!("stty cols 200; exec {}", quoted.join(" ")), "/dev/null"]);
        self.environment(&mut command);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("`script` makes the terminal for `rejoin chat`, and it cannot be run")?;
        let (mut keyboard, mut screen) =
            child.stdin.take().zip(child.stdout.take()).context("script has no streams")?;
        let mut shown = Vec::new();
        let mut typed = lines.iter();
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = screen.read(&mut buffer) {
            shown.extend_from_slice(&buffer[..count]);
            if shown.ends_with("› ".as_bytes()) {
                let line = typed.next().map_or_else(|| "\u{4}".to_owned(), |line| format!("{line}\r"));
                // Somebody who was killed does not read any more.
                let _ = keyboard.write_all(line.as_bytes()).and_then(|()| keyboard.flush());
            }
        }
        drop(keyboard);
        child.wait()?;
        Ok(String::from_utf8_lossy(&shown).into_owned())
    }
}

/// A word for the shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

fn run(command: &mut Command, stdin: &str) -> Result<(Option<i32>, String, String)> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot run {}", command.get_program().display()))?;
    if let Some(mut pipe) = child.stdin.take() {
        // Who does not want it has closed it.
        let _ = pipe.write_all(stdin.as_bytes());
    }
    let output = child.wait_with_output()?;
    Ok((
        output.status.code(),
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    ))
}

/// Copies a directory with its times, in the place of what is there.
fn copy(from: &Path, to: &Path) -> Result<()> {
    if to.exists() {
        fs::remove_dir_all(to).with_context(|| format!("cannot remove {}", to.display()))?;
    }
    let status = Command::new("cp").arg("-a").arg(from).arg(to).status().context("cannot run cp")?;
    if !status.success() {
        bail!("cannot copy {} to {}", from.display(), to.display());
    }
    Ok(())
}
