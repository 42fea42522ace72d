//! Where a scenario plays: a laboratory with all real agents, and one of them in the leading part.

use std::cell::{Cell, RefCell};
use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use rejoin_testkit::{Lab, Outcome, Verdict, note};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::files::files_below;
use super::processes::{alive_in, eventually};
use super::run::Run;
use super::who::Who;

/// Plays a scenario, unless this machine has no real agents. Afterwards nothing may be left running.
pub(super) fn play(who: Who, scenario: fn(&Stage)) {
    play_in_the_table(who, &[], scenario);
}

/// Plays a scenario that shows these lines of the table; see [`Stage::seen`] and [`Stage::cannot`].
pub(super) fn play_in_the_table(who: Who, lines: &[&'static str], scenario: fn(&Stage)) {
    let Some(lab) = Lab::require_real() else { return };
    let settings = files_below(&lab.home());
    let (undecided, verdict) = (RefCell::new(lines.to_vec()), Cell::new(Verdict::Passed(None)));
    let stage = Stage { lab, who, settings, undecided, verdict };
    for line in lines {
        note(who.name(), line, Verdict::Begun);
    }
    stage.remember_probes();
    scenario(&stage);
    stage.nothing_is_left_running();
    for line in stage.undecided.take() {
        note(who.name(), line, stage.verdict.get());
    }
}

/// The laboratory and the agent.
pub(super) struct Stage {
    pub(super) lab: Lab,
    pub(super) who: Who,
    /// What was in the home before anybody ran.
    settings: Vec<PathBuf>,
    /// What of the table this scenario still has to show.
    undecided: RefCell<Vec<&'static str>>,
    /// What is noted about it if the scenario comes to its end.
    verdict: Cell<Verdict<'static>>,
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

    /// This line of the table was seen, whatever follows.
    pub(super) fn seen(&self, line: &str) {
        self.undecided.borrow_mut().retain(|name| *name != line);
        note(self.who.name(), line, Verdict::Passed(None));
    }

    /// It is seen in another way than with the other agents.
    pub(super) fn seen_differently(&self, remark: &'static str) {
        self.verdict.set(Verdict::Passed(Some(remark)));
    }

    /// The agent cannot do this, and rejoin says so.
    pub(super) fn cannot(&self, reason: &'static str) {
        self.verdict.set(Verdict::Cannot(reason));
    }

    /// Where an agent keeps all that it keeps.
    pub(super) fn store(&self, who: Who) -> PathBuf {
        self.lab.home().join(who.store())
    }

    /// Every stored session of an agent; for OpenCode the database of all of them.
    pub(super) fn stored_sessions(&self, who: Who) -> Vec<PathBuf> {
        let mut files = files_below(&self.store(who).join(who.sessions()));
        let ending = if who == Who::OpenCode { "db" } else { "jsonl" };
        files.retain(|file| file.extension() == Some(OsStr::new(ending)));
        files
    }

    /// The file of one stored session.
    #[track_caller]
    pub(super) fn session_file(&self, session: &str) -> PathBuf {
        let named =
            |who: Who, file: &PathBuf| file.to_string_lossy().ends_with(who.file_of(session).as_str());
        let mut files = Who::ALL
            .into_iter()
            .flat_map(|who| self.stored_sessions(who).into_iter().filter(move |file| named(who, file)));
        files.next().unwrap_or_else(|| panic!("no stored session {session}"))
    }

    /// A shell command that makes a session unknown to its agent.
    #[track_caller]
    pub(super) fn deletion(&self, session: &str) -> String {
        match self.who {
            Who::OpenCode => format!("opencode session delete {session} >/dev/null 2>&1"),
            _ => format!("rm {}", self.session_file(session).display()),
        }
    }

    /// All that an agent stored is gone; how it is set up stays.
    pub(super) fn lose_store(&self, who: Who) {
        for file in files_below(&self.store(who)).iter().filter(|file| !self.settings.contains(file)) {
            fs::remove_file(file).expect("a file to remove");
        }
    }

    /// A turn in the agent's own command, without rejoin.
    pub(super) fn bare(&self, session: &str, prompt: &str) -> Outcome {
        self.lab.run(&mut self.bare_command(session), prompt).assert_success()
    }

    /// The first turn of a session in the agent's own command, without rejoin.
    pub(super) fn bare_first(&self, prompt: &str) -> Outcome {
        let mut command = self.lab.command(self.who.name());
        command.args(self.who.bare_first());
        self.lab.run(&mut command, prompt).assert_success()
    }

    /// The agent's own command, resuming a session.
    pub(super) fn bare_command(&self, session: &str) -> Command {
        let mut command = self.lab.command(self.who.name());
        command.args(self.who.bare(session));
        command
    }

    /// Commands whose whole line holds this text.
    pub(super) fn alive(&self, what: &str) -> Vec<String> {
        let mut alive = alive_in(&self.lab.root());
        alive.retain(|line| line.contains(what));
        alive
    }

    /// Kills the processes of this laboratory whose command line holds this text, all at once: they are stopped
    /// first, so that none of them sees another one go, or starts one that nobody saw.
    #[track_caller]
    pub(super) fn kill_every(&self, what: &str) {
        let pid_of = |line: &String| line.split(':').next().and_then(|pid| Pid::from_raw(pid.parse().ok()?));
        let mut stopped = Vec::new();
        loop {
            let alive: Vec<Pid> = self.alive(what).iter().filter_map(pid_of).collect();
            let new: Vec<Pid> = alive.into_iter().filter(|pid| !stopped.contains(pid)).collect();
            if new.is_empty() {
                break;
            }
            for pid in new {
                let _ = kill_process(pid, Signal::STOP);
                stopped.push(pid);
            }
        }
        assert!(!stopped.is_empty(), "there is no {what} to kill");
        for pid in stopped {
            let _ = kill_process(pid, Signal::KILL);
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
