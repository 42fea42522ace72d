//! Codex CLI: the command `codex`.

mod driver;
mod failure;
mod launch;
mod segments;
mod sessions;
mod store;
mod stored_records;
mod timeline;
mod tool_outputs;
mod trust;
mod whole_session;
mod wire;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use rejoin_core::{Agent, SessionId, Usage};

use crate::{
    About, Capabilities, Damage, Definition, Found, Login, Media, ProbeAnswer, Process, ProcessRequest,
    Refusal, SessionStore, SessionUser, help, places, session_user,
};

/// Codex CLI.
pub(crate) struct Codex;

impl Definition for Codex {
    fn agent(&self) -> Agent {
        Agent::Codex
    }

    fn about(&self) -> About<'_> {
        About {
            title: "Codex CLI",
            vendor: "OpenAI",
            command: "codex",
            install_hint: "npm install -g @openai/codex",
            tested_version: "0.166.0",
            wanted_flags: &[
                ("--json", "its output cannot be read"),
                ("--skip-git-repo-check", "it refuses to run outside git"),
                ("--ephemeral", "--ephemeral is refused"),
                ("resume --json", "no session can be resumed: every turn replays the history"),
            ],
            takes: &[Media::Image],
        }
    }

    fn probes(&self) -> Vec<Vec<&str>> {
        vec![vec!["--version"], vec!["exec", "--help"], vec!["exec", "resume", "--help"]]
    }

    fn learn(&self, answers: &[ProbeAnswer]) -> Capabilities {
        // "codex-cli 0.166.0"
        let line = help::version_line(answers.first()).unwrap_or_default();
        let (product, version) = line.rsplit_once(' ').unwrap_or((line, ""));
        // A word Codex does not know is a prompt to it, and its help that of the whole program:
        // only the usage tells whether a command exists.
        let about = |at: usize, command: &str| answers.get(at).filter(|answer| is_help_of(answer, command));
        let exec = about(1, "exec");
        let resume = about(2, "exec resume");
        let mut flags = help::flags_of(exec);
        flags.extend(help::flags_of(resume).into_iter().map(|flag| format!("resume {flag}")));
        Capabilities {
            product: product.to_owned(),
            version: Some(version.to_owned()).filter(|version| !version.is_empty()),
            resume: resume.is_some(),
            fork: exec.is_some_and(|answer| {
                answer.stdout.lines().any(|line| line.trim_start().starts_with("fork "))
            }),
            ephemeral: flags.contains("--ephemeral"),
            flags,
            ..Capabilities::default()
        }
    }

    fn store(&self, env: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        places::named(env, "CODEX_HOME").or_else(|| places::at_home(env, ".codex"))
    }

    fn session_users(&self, store: &Path, session: &SessionId) -> Vec<SessionUser> {
        session_user::by_lock(&store.join(format!("thread-writer-locks/{session}.lock")))
    }

    fn login(&self, env: &dyn Fn(&str) -> Option<OsString>) -> Option<Login> {
        Some(Login::new(
            "CODEX_API_KEY CODEX_ACCESS_TOKEN",
            self.store(env).iter().map(|store| store.join("auth.json")).collect(),
            "run `codex login`, or set CODEX_API_KEY",
        ))
    }

    fn process(&self, request: &ProcessRequest<'_>) -> Result<Process, Refusal> {
        launch::process(request)
    }

    fn find_session(&self, store: &Path, _dir: &Path, session: &SessionId) -> Found {
        store::find(store, session)
    }

    fn session_store(&self, store: &Path, _here: &Path) -> Option<Box<dyn SessionStore>> {
        Some(Box::new(sessions::CodexSessions { store: store.to_owned() }))
    }

    fn continues(&self, store: &Path, asked: &SessionId, named: &SessionId) -> bool {
        store::continues(store, asked, named).unwrap_or_default()
    }

    fn damage(&self, found: &Path, _session: &SessionId) -> Option<Damage> {
        store::damage(found).ok().flatten()
    }

    fn stored_total(&self, session_file: &Path) -> Option<Usage> {
        store::total(session_file)
    }
}

fn is_help_of(answer: &ProbeAnswer, command: &str) -> bool {
    let usage = answer.stdout.lines().find_map(|line| line.trim().strip_prefix("Usage: "));
    let words = usage.into_iter().flat_map(|usage| usage.split_whitespace().skip(1));
    answer.answered && words.take_while(|word| !word.starts_with('[')).eq(command.split(' '))
}
