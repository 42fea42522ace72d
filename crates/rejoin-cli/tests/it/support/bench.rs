use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use rejoin_testkit::Lab;
use serde_json::Value;

use super::processes;
use super::{Call, eventually};

/// A home and a project of its own, and no agent but the embedded ones.
pub(crate) struct Bench {
    pub(crate) lab: Lab,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self { lab: Lab::new() }
    }

    /// A bench on which one turn was done: `MARK-a`, by `demo`.
    pub(crate) fn after_a_turn() -> Self {
        let bench = Self::new();
        bench.first("hello MARK-a").done();
        bench
    }

    /// `$REJOIN_HOME`.
    pub(crate) fn home(&self) -> PathBuf {
        self.lab.root().join("rejoin")
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.lab.project()
    }

    /// A directory in the project.
    pub(crate) fn subdir(&self, name: &str) -> PathBuf {
        let dir = self.project().join(name);
        fs::create_dir_all(&dir).unwrap();
        dir
    }

    /// A directory outside of git, and of the project.
    pub(crate) fn outside(&self, name: &str) -> PathBuf {
        let dir = self.lab.root().join("outside").join(name);
        fs::create_dir_all(&dir).unwrap();
        dir
    }

    /// A file in the project.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.project().join(name);
        fs::write(&path, content).unwrap();
        path
    }

    /// The user's configuration, where it is looked for by default.
    pub(crate) fn config(&self, toml: &str) {
        let dir = self.lab.home().join(".config/rejoin");
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join("config.toml"), toml).unwrap();
    }

    /// Makes a program the command of `claude`, the agent for new conversations; more settings of it may follow.
    pub(crate) fn claude_is(&self, command: &Path, more: &str) {
        let command = serde_json::json!(command);
        self.config(&format!("agent = \"claude\"\n[agents.claude]\ncommand = {command}\n{more}"));
    }

    /// `rejoin` with these arguments.
    pub(crate) fn rejoin(&self, args: &[&str]) -> Call<'_> {
        Call::new(self, args)
    }

    /// The first turn of a conversation, by `demo`, as a stream of events.
    pub(crate) fn first(&self, prompt: &str) -> Call<'_> {
        self.rejoin(&["run", "-o", "stream-json", "-a", "demo", prompt])
    }

    /// The next turn of the newest conversation, by whoever took the last one.
    pub(crate) fn next(&self, prompt: &str) -> Call<'_> {
        self.rejoin(&["run", "-o", "stream-json", "-c", prompt])
    }

    /// The next turn, by that agent.
    pub(crate) fn hand_to(&self, agent: &str, prompt: &str) -> Call<'_> {
        self.next(prompt).with(&["-a", agent])
    }

    /// What `rejoin ls` says about all conversations of the project, newest first.
    pub(crate) fn conversations(&self) -> Vec<Value> {
        let said = self.rejoin(&["ls", "--json"]).done();
        said.json().as_array().unwrap().clone()
    }

    /// What `rejoin show` says about the newest conversation.
    pub(crate) fn show(&self) -> Value {
        self.rejoin(&["show", "--json"]).done().json()
    }

    /// The journals, in no order.
    pub(crate) fn journals(&self) -> Vec<PathBuf> {
        let all = self.files();
        let journal = |path: &PathBuf| {
            path.starts_with("projects") && path.extension().is_some_and(|ending| ending == "jsonl")
        };
        all.into_iter().filter(journal).map(|path| self.home().join(path)).collect()
    }

    /// The records of the only conversation.
    #[track_caller]
    pub(crate) fn records(&self) -> Vec<Value> {
        let journals = self.journals();
        assert_eq!(journals.len(), 1, "one conversation: {journals:?}");
        let text = fs::read_to_string(&journals[0]).unwrap();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// The bodies of rejoin's own records of one kind.
    #[track_caller]
    pub(crate) fn notes(&self, subtype: &str) -> Vec<Value> {
        let records = self.records().into_iter().filter(|record| record["subtype"] == subtype);
        records.map(|record| record["systemPayload"].clone()).collect()
    }

    /// Everything below `$REJOIN_HOME`, directories included, as relative paths.
    pub(crate) fn files(&self) -> BTreeSet<PathBuf> {
        let mut found = BTreeSet::new();
        walk(&self.home(), &mut |path| {
            found.insert(path.strip_prefix(self.home()).unwrap().to_owned());
        });
        found
    }

    /// The file in which a demo agent keeps a session.
    pub(crate) fn stored(&self, agent: &str, session: &str) -> PathBuf {
        self.home().join(format!("{agent}-agent")).join(format!("{session}.jsonl"))
    }

    /// Processes that were started on this bench and are still there.
    pub(crate) fn processes(&self) -> Vec<processes::Process> {
        processes::of(&self.lab.root())
    }

    /// Waits until the last one is gone.
    #[track_caller]
    pub(crate) fn comes_to_rest(&self) {
        eventually("the end of all processes", || self.processes().is_empty().then_some(()));
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        for process in self.processes() {
            processes::kill(process.pid);
        }
    }
}

fn walk(dir: &Path, each: &mut dyn FnMut(&Path)) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        each(&path);
        if path.is_dir() && !path.is_symlink() {
            walk(&path, each);
        }
    }
}
