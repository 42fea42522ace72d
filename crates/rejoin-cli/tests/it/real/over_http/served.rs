//! A daemon on a stage, and a `claude` that notes how it is called.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::real::stage::Stage;
use crate::real::turn::Turn;
use crate::serve::daemon::Daemon;
use crate::support::{PATIENCE, eventually};

/// How Claude is told the id that a new session shall have.
pub(super) fn begun(session: &str) -> String {
    format!("--session-id={session}")
}

/// How Claude is told which session to resume.
pub(super) fn resumed(session: &str) -> String {
    format!("--resume={session}")
}

/// A running daemon whose Claude is the real one, behind a script.
pub(super) struct Served<'a> {
    stage: &'a Stage,
    pub(super) daemon: Daemon<'a>,
}

impl<'a> Served<'a> {
    pub(super) fn start(stage: &'a Stage) -> Self {
        Self::start_as(stage, "claude", "exec")
    }

    /// Claude under another name, or with another way to tell of itself: `asked` is put before the command that tells
    /// its version or its flags.
    pub(super) fn start_as(stage: &'a Stage, name: &str, asked: &str) -> Self {
        let bin = stage.lab.root().join("bin");
        fs::create_dir_all(&bin).unwrap();
        let (program, real) = (bin.join(name), stage.lab.command("claude").get_program().to_owned());
        let (calls, real) = (calls(stage), real.display());
        let script = format!(
            r#"#!/bin/sh
case "$*" in *--help|*--version) {asked} {real} "$@"; exit ;; esac
for argument; do
  case "$argument" in --resume*|--session-id*|-r|-c|--continue) printf '%s\n' "$argument" ;; esac
done >> {}
exec {real} "$@"
"#,
            calls.display()
        );
        rejoin_testkit::write_program(&program, &script).unwrap();
        let config = stage.lab.root().join("config.toml");
        fs::write(&config, format!("[agents.claude]\ncommand = {}\n", json!(program))).unwrap();
        let mut command = stage.rejoin();
        command.args(["serve", "--port", "0"]).env("REJOIN_CONFIG", config);
        let daemon = Daemon::start_by(&stage.lab, &stage.rejoin_home(), &mut command);
        Self { stage, daemon }
    }

    /// What Claude was told about sessions, in all turns so far.
    pub(super) fn told_of_sessions(&self) -> Vec<String> {
        let told = fs::read_to_string(calls(self.stage)).unwrap_or_default();
        told.lines().map(str::to_owned).collect()
    }

    /// The first turn of a conversation, by Claude.
    #[track_caller]
    pub(super) fn first(&self, prompt: &str) -> Turn {
        self.turn(&self.wanted(prompt))
    }

    pub(super) fn wanted(&self, prompt: &str) -> Value {
        json!({ "project": self.stage.lab.project(), "agent": "claude", "prompt": prompt })
    }

    /// The next turn of the conversation of another one.
    #[track_caller]
    pub(super) fn next(&self, before: &Turn, prompt: &str) -> Turn {
        self.turn(&next(before, prompt))
    }

    /// The next turn, with something more to say about it.
    #[track_caller]
    pub(super) fn next_with(
        &self,
        before: &Turn,
        prompt: &str,
        field: &str,
        value: impl Into<Value>,
    ) -> Turn {
        let mut body = next(before, prompt);
        body[field] = value.into();
        self.turn(&body)
    }

    #[track_caller]
    pub(super) fn turn(&self, body: &Value) -> Turn {
        self.turn_at("/api/v1/runs", body)
    }

    /// Posts what begins a turn, and reads its events to the end.
    #[track_caller]
    pub(super) fn turn_at(&self, path: &str, body: &Value) -> Turn {
        let before = self.stage.lab.model().calls().len();
        let run = self.daemon.post(path, body).is(202)["run"].as_str().unwrap().to_owned();
        self.read(&run, before)
    }

    /// A turn in which Claude asks something that is answered over HTTP. Returns the question, too.
    #[track_caller]
    pub(super) fn answered(&self, body: Value, option: &str) -> (Turn, Value) {
        self.answered_by(body, |path| drop(self.daemon.post(path, &json!({ "options": [option] })).is(200)))
    }

    /// The same, by somebody who is told where answers go.
    #[track_caller]
    pub(super) fn answered_by(&self, mut body: Value, answer: impl FnOnce(&str)) -> (Turn, Value) {
        body["interactive"] = json!(true);
        let before = self.stage.lab.model().calls().len();
        let taken = self.daemon.post("/api/v1/runs", &body).is(202);
        let question = eventually("a question", || {
            let open = self.daemon.get("/api/v1/questions").is(200);
            open["questions"].as_array().unwrap().first().cloned()
        });
        assert_eq!(question["run"], taken["run"]);
        answer(&format!("/api/v1/questions/{}/answer", question["id"].as_str().unwrap()));
        let turn = self.read(taken["run"].as_str().unwrap(), before);
        (turn, question["question"].clone())
    }

    /// A turn as its stream tells it; how it is shown as a run must say the same.
    #[track_caller]
    fn read(&self, run: &str, calls_before: usize) -> Turn {
        let mut stream = self.daemon.ask("GET", &format!("/api/v1/runs/{run}/events")).events();
        let mut events = Vec::new();
        while events.last().is_none_or(|last: &Value| last["type"] != "result") {
            let told = stream.next_within(PATIENCE).unwrap_or_else(|| panic!("no result: {events:#?}"));
            let mut event = told.data["data"].clone();
            event["type"] = told.kind.into();
            events.push(event);
        }
        let calls = self.stage.lab.model().calls().split_off(calls_before);
        let turn = Turn { code: Some(0), events, stderr: self.daemon.log(), calls };
        let shown = self.daemon.get(&format!("/api/v1/runs/{run}?wait=20")).is(200);
        let receipt = turn.receipt();
        assert_eq!(shown["status"], receipt["outcome"], "{shown}");
        assert_eq!(shown["sessionResumed"], receipt["plan"]["decision"] == "resume", "{shown}");
        assert_eq!(shown["receipt"]["asked"], receipt["asked"], "{shown}");
        turn
    }

    /// Changes a conversation as it stands: `edit`, `rewind`.
    #[track_caller]
    pub(super) fn change(&self, before: &Turn, how: &str, body: &Value) {
        let path = format!("/api/v1/conversations/{}", before.conversation());
        let seen = self.daemon.get(&path);
        let tag = seen.header("etag").unwrap().to_owned();
        let change = self.daemon.ask("POST", &format!("{path}/{how}")).header("If-Match", &tag);
        change.json(body).send().is(200);
    }
}

pub(super) fn next(before: &Turn, prompt: &str) -> Value {
    json!({ "conversation": before.conversation(), "prompt": prompt })
}

fn calls(stage: &Stage) -> PathBuf {
    stage.lab.root().join("told-of-sessions")
}
