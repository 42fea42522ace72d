//! A laboratory: a home and a project of its own, a scripted model, and an environment built from nothing.

mod pointers;

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;

pub(crate) use self::pointers::REAL_AGENTS;
use crate::guard::guard_path;
use crate::model::ScriptedModel;
use crate::outcome::{Outcome, run_to_end};

/// Names the directory with the real agents' commands; set by `cargo xtask test`.
const AGENTS_VARIABLE: &str = "REJOIN_TEST_AGENTS";
/// Real agents on a busy machine are slow; a test that reaches this hangs.
const LONGEST_RUN: Duration = Duration::from_mins(3);

/// A place for one test: everything in it is gone when it is dropped.
pub struct Lab {
    // Dropped first: no connection outlives the files.
    model: ScriptedModel,
    search_path: OsString,
    dir: TempDir,
}

impl Lab {
    /// A laboratory without real agents: their names are guarded (see [`guard_path`]).
    #[expect(clippy::panic, reason = "a test without its place cannot go on, and has no error to handle")]
    pub fn new() -> Self {
        match Self::build(None) {
            Ok(lab) => lab,
            Err(error) => panic!("the test's laboratory cannot be made: {error}"),
        }
    }

    /// A laboratory with the real agents first on PATH, or `None` after saying why the test is skipped: they are
    /// not installed, or this process could reach more than loopback. With `CI=true` that is a failure.
    #[expect(clippy::panic, reason = "see `new`")]
    pub fn require_real() -> Option<Self> {
        let why = match Self::agents_bin() {
            None => format!("{AGENTS_VARIABLE} names no directory with {}", REAL_AGENTS.join(", ")),
            Some(_) if !only_loopback() => {
                "real agents run only where nothing but loopback is reachable".to_owned()
            }
            Some(bin) => match Self::build(Some(&bin)) {
                Ok(lab) => return Some(lab),
                Err(error) => panic!("the test's laboratory cannot be made: {error}"),
            },
        };
        let in_ci = env::var("CI").is_ok_and(|ci| ci == "true");
        assert!(!in_ci, "not tested: {why}; run cargo xtask test");
        eprintln!("skipped: {why}; run cargo xtask test");
        None
    }

    /// The directory with the real agents' commands, if it is named and holds them.
    pub fn agents_bin() -> Option<PathBuf> {
        let bin = PathBuf::from(env::var_os(AGENTS_VARIABLE)?);
        REAL_AGENTS.iter().all(|name| bin.join(name).exists()).then_some(bin)
    }

    fn build(real: Option<&Path>) -> io::Result<Self> {
        let dir = tempfile::Builder::new().prefix("rejoin-lab-").tempdir()?;
        // The real path: agents name their sessions after it, and on some systems the temporary directory is a link.
        let root = dir.path().canonicalize()?;
        let guard = guard_path(&root)?;
        let lab = Self { model: ScriptedModel::start(), search_path: search_path(real, &guard)?, dir };
        fs::create_dir_all(lab.tmp())?;
        pointers::write_settings(&lab.home(), &root, &lab.model.url())?;
        lab.make_project("project")?;
        Ok(lab)
    }

    /// The directory that holds all the rest.
    pub fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap_or_else(|_| self.dir.path().to_owned())
    }

    /// The home directory.
    pub fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    /// The project: a git work tree with one commit. Commands start here.
    pub fn project(&self) -> PathBuf {
        self.root().join("project")
    }

    /// The directory for temporary files.
    pub fn tmp(&self) -> PathBuf {
        self.root().join("tmp")
    }

    /// The model every agent of this laboratory talks to.
    pub fn model(&self) -> &ScriptedModel {
        &self.model
    }

    /// Makes another git work tree with one commit beside the project.
    pub fn make_project(&self, name: &str) -> io::Result<PathBuf> {
        let path = self.root().join(name);
        fs::create_dir_all(&path)?;
        fs::write(path.join("README.md"), "# A project for tests\n")?;
        for args in [&["init", "-q", "-b", "main"][..], &["add", "."], &["commit", "-q", "-m", "Begin"]] {
            let outcome = run_to_end(self.command("git").args(args).current_dir(&path), b"", LONGEST_RUN)?;
            if !outcome.status.success() {
                return Err(io::Error::other(format!("git {} failed: {}", args.join(" "), outcome.stderr)));
            }
        }
        Ok(path)
    }

    /// The whole environment of a command: nothing of the caller's, all agents pointed at the model.
    pub fn env(&self) -> Vec<(OsString, OsString)> {
        let mut all: Vec<(OsString, OsString)> = vec![
            ("PATH".into(), self.search_path.clone()),
            ("HOME".into(), self.home().into()),
            ("TMPDIR".into(), self.tmp().into()),
        ];
        let fixed = [
            ("LANG", "C.UTF-8"),
            ("TERM", "dumb"),
            ("USER", "tester"),
            ("SHELL", "/bin/sh"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_AUTHOR_NAME", "Tester"),
            ("GIT_AUTHOR_EMAIL", "tester@localhost"),
            ("GIT_COMMITTER_NAME", "Tester"),
            ("GIT_COMMITTER_EMAIL", "tester@localhost"),
        ];
        all.extend(fixed.iter().map(|(name, value)| (name.into(), value.into())));
        all.extend(REAL_AGENTS.iter().flat_map(|agent| self.agent_env(agent)));
        all
    }

    /// What one agent needs to talk to the model and to nothing else, beside the settings in the home, which are
    /// written already. Part of [`Lab::env`]; empty for a name that is no real agent's.
    pub fn agent_env(&self, agent: &str) -> Vec<(OsString, OsString)> {
        let variables = pointers::variables(agent, &self.model.url());
        variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect()
    }

    /// A command in the project with this laboratory's environment. A bare name is looked up on its PATH.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let program = program.as_ref();
        let found = find_on(&self.search_path, program).unwrap_or_else(|| program.into());
        let mut command = Command::new(found);
        command.env_clear().envs(self.env()).current_dir(self.project());
        command
    }

    /// Runs a command to its end with this input; a hanging one is killed after three minutes.
    #[track_caller]
    #[expect(clippy::panic, reason = "an assertion: the program can be started")]
    pub fn run(&self, command: &mut Command, stdin: &str) -> Outcome {
        match run_to_end(command, stdin.as_bytes(), LONGEST_RUN) {
            Ok(outcome) => outcome,
            Err(error) => panic!("{} cannot be run: {error}", command.get_program().display()),
        }
    }
}

impl Default for Lab {
    fn default() -> Self {
        Self::new()
    }
}

/// Real agents (if any), then the guard for all others, then what scripts and npm's wrappers need.
fn search_path(real: Option<&Path>, guard: &Path) -> io::Result<OsString> {
    let caller = env::var_os("PATH").unwrap_or_default();
    let dir_of =
        |program: &str| find_on(&caller, program.as_ref()).and_then(|p| p.parent().map(Path::to_owned));
    let mut dirs: Vec<PathBuf> = real.into_iter().chain([guard]).map(Path::to_owned).collect();
    dirs.extend(dir_of("node"));
    dirs.extend(["/usr/bin".into(), "/bin".into()]);
    dirs.extend(dir_of("git"));
    env::join_paths(dirs).map_err(io::Error::other)
}

fn find_on(search_path: &OsStr, program: &OsStr) -> Option<PathBuf> {
    if Path::new(program).components().count() != 1 {
        return None;
    }
    env::split_paths(search_path).map(|dir| dir.join(program)).find(|file| file.is_file())
}

/// Whether this process has no route to anything but itself. Where that cannot be known (no `/proc/net`), the
/// fake keys and addresses of the environment have to do.
fn only_loopback() -> bool {
    let beyond = |table: &str, header: usize, device: fn(&str) -> Option<&str>| {
        fs::read_to_string(table).is_ok_and(|text| {
            text.lines().skip(header).any(|line| device(line).is_some_and(|name| name != "lo"))
        })
    };
    !beyond("/proc/net/route", 1, |line| line.split_whitespace().next())
        && !beyond("/proc/net/ipv6_route", 0, |line| line.split_whitespace().next_back())
}
