//! Where a scenario plays: a laboratory with both real agents, and one of them in the leading part.

use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use rejoin_testkit::{Lab, Outcome};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::files::files_below;
use super::processes::{alive_in, eventually};
use super::run::Run;

/// The agent in the leading part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Who {
    Claude,
    Codex,
}

impl Who {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
        }
    }

    pub(super) fn other(self) -> Self {
        match self {
            Self::Claude => Self::Codex,
            Self::Codex => Self::Claude,
        }
    }
}

/// Plays a scenario, unless this machine has no real agents. Afterwards nothing may be left running.
pub(super) fn play(who: Who, scenario: fn(&Stage)) {
    let Some(lab) = Lab::require_real() else { return };
    let stage = Stage { lab, who };
    stage.remember_probes();
    scenario(&stage);
    stage.nothing_is_left_running();
}

/// The laboratory and the agent.
pub(super) struct Stage {
    pub(super) lab: Lab,
    pub(super) who: Who,
}

impl Stage {
    /// A turn of a new conversation.
    pub(super) fn first(&self, prompt: &str) -> Run<'_> {
        self.run(prompt).with(["-a", self.who.name()])
    }

    /// The next turn of the newest conversation, by whoever had the last one.
    pub(super) fn next(&self, prompt: &str) -> Run<'_> {
        self.run(prompt).with(["-c"])
    }

    /// A turn with nothing but a prompt.
    pub(super) fn run(&self, prompt: &str) -> Run<'_> {
        Run::new(self, prompt)
    }

    /// Any command of rejoin, in the project.
    pub(super) fn rejoin(&self) -> Command {
        let mut command = self.lab.command(env!("CARGO_BIN_EXE_rejoin"));
        command.env("REJOIN_HOME", self.rejoin_home());
        command
    }

    pub(super) fn rejoin_home(&self) -> PathBuf {
        self.lab.root().join("rejoin")
    }

    /// What a command of rejoin prints as JSON.
    #[track_caller]
    pub(super) fn ask<const N: usize>(&self, args: [&str; N]) -> Value {
        let outcome = self.lab.run(self.rejoin().args(args), "").assert_success();
        serde_json::from_str(&outcome.stdout).expect("JSON")
    }

    /// The newest conversation of the project as `rejoin show --json` tells it.
    #[track_caller]
    pub(super) fn show(&self) -> Value {
        self.ask(["show", "--json"])
    }

    /// Every record of every journal.
    pub(super) fn records(&self) -> Vec<Value> {
        let journals = files_below(&self.rejoin_home().join("projects"));
        let texts = journals.iter().map(|file| fs::read_to_string(file).expect("a journal"));
        texts
            .flat_map(|text| {
                let read = |line| serde_json::from_str(line).expect("a record");
                text.lines().map(read).collect::<Vec<Value>>()
            })
            .collect()
    }

    /// The records of rejoin's own of one kind, their bodies.
    pub(super) fn system_records(&self, subtype: &str) -> Vec<Value> {
        let of_kind = |record: &Value| record["subtype"] == subtype;
        let records = self.records().into_iter().filter(of_kind);
        records.map(|record| record["systemPayload"].clone()).collect()
    }

    /// Where an agent keeps all that it keeps.
    pub(super) fn store(&self, who: Who) -> PathBuf {
        self.lab.home().join(format!(".{}", who.name()))
    }

    /// Every stored session of an agent.
    pub(super) fn stored_sessions(&self, who: Who) -> Vec<PathBuf> {
        let below = match who {
            Who::Claude => "projects",
            Who::Codex => "sessions",
        };
        let mut files = files_below(&self.store(who).join(below));
        files.retain(|file| file.extension() == Some(OsStr::new("jsonl")));
        files
    }

    /// The file of one stored session.
    #[track_caller]
    pub(super) fn session_file(&self, session: &str) -> PathBuf {
        let named = |file: &PathBuf| file.to_string_lossy().ends_with(&format!("{session}.jsonl"));
        let mut files = [Who::Claude, Who::Codex].into_iter().flat_map(|who| self.stored_sessions(who));
        files.find(named).unwrap_or_else(|| panic!("no stored session {session}"))
    }

    /// A turn in the agent's own command, without rejoin.
    pub(super) fn bare(&self, session: &str, prompt: &str) -> Outcome {
        self.lab.run(&mut self.bare_command(session), prompt).assert_success()
    }

    /// The agent's own command, resuming a session.
    pub(super) fn bare_command(&self, session: &str) -> Command {
        let mut command = self.lab.command(self.who.name());
        match self.who {
            Who::Claude => command.args(["-p", "--resume", session]),
            Who::Codex => command.args(["exec", "resume", "--skip-git-repo-check", session, "-"]),
        };
        command
    }

    /// Commands whose whole line holds this text.
    pub(super) fn alive(&self, what: &str) -> Vec<String> {
        let mut alive = alive_in(&self.lab.root());
        alive.retain(|line| line.contains(what));
        alive
    }

    /// Kills the processes of this laboratory whose command line holds this text.
    #[track_caller]
    pub(super) fn kill_every(&self, what: &str) {
        let alive = self.alive(what);
        assert!(!alive.is_empty(), "there is no {what} to kill");
        for line in alive {
            let pid = line.split(':').next().and_then(|pid| Pid::from_raw(pid.parse().ok()?));
            let _ = kill_process(pid.expect("a process id"), Signal::KILL);
        }
    }

    /// No process of this laboratory is alive, or will be in a moment.
    #[track_caller]
    pub(super) fn nothing_is_left_running(&self) {
        let root = self.lab.root();
        let gone = eventually(Duration::from_secs(10), || alive_in(&root).is_empty());
        assert!(gone, "left running: {:#?}", alive_in(&root));
    }

    /// Agents are asked for their flags once per run of the tests, not once per test.
    fn remember_probes(&self) {
        static PROBES: OnceLock<Vec<u8>> = OnceLock::new();
        let cache = self.rejoin_home().join("cache");
        let file = cache.join("probes.json");
        let probes = PROBES.get_or_init(|| {
            self.ask(["agents", "--json"]);
            fs::read(&file).expect("the probes")
        });
        fs::create_dir_all(&cache).expect("a cache");
        fs::write(&file, probes).expect("the probes");
    }
}
