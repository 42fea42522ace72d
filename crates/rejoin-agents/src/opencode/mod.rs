//! OpenCode: the command `opencode`.

mod config;
mod driver;
mod failure;
mod file_sessions;
mod files;
mod id;
mod launch;
mod permissions;
mod sessions;
mod sqlite;
mod sqlite_log;
mod sqlite_rows;
mod store;
mod whole_files;
mod whole_rows;
mod whole_session;
mod wire;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use rejoin_core::{Agent, InvalidSessionId, SessionId, Witness};

use crate::provider_keys::PROVIDER_KEYS;
use crate::{
    About, Capabilities, Damage, Definition, Found, Hazard, Login, Look, Media, ProbeAnswer, Process,
    ProcessRequest, Refusal, SessionStore, Wanted, help,
};

/// OpenCode.
pub(crate) struct OpenCode;

/// Since then its database may lie in memory, or anywhere else.
const MEMORY_SINCE: [u64; 3] = [1, 3, 0];

fn agent() -> Agent {
    Agent::named("opencode")
}

impl Definition for OpenCode {
    fn agent(&self) -> Agent {
        agent()
    }

    fn about(&self) -> About<'_> {
        About {
            title: "OpenCode",
            command: "opencode",
            install_hint: "npm install -g opencode-ai",
            tested_version: "1.18.33",
            wanted_flags: &[
                ("--format", "nothing runs: it does not print what it does"),
                ("--session", "no session can be resumed: every turn replays the history"),
                ("--title", "a session it does not name is not found: the next turn replays the history"),
                ("list --format", "a session it does not name is looked for in its files"),
                ("--dir", "it may take another directory of the project for its own"),
                ("--agent", "the permission levels read and edit are refused"),
            ],
            takes: &[Media::Image, Media::Pdf, Media::Text],
        }
    }

    fn probes(&self) -> Vec<Vec<&str>> {
        vec![vec!["--version"], vec!["run", "--help"], vec!["session", "list", "--help"]]
    }

    fn learn(&self, answers: &[ProbeAnswer]) -> Capabilities {
        // "1.18.33" and nothing else: its help tells the product.
        let version = help::version_line(answers.first()).unwrap_or_default();
        let run = flags_of(answers.get(1), "run");
        let list = flags_of(answers.get(2), "session list");
        let product = if run.is_some() { "opencode" } else { "" };
        let mut flags = run.unwrap_or_default();
        flags.extend(list.into_iter().flatten().map(|flag| format!("list {flag}")));
        let mut known = Capabilities {
            product: product.to_owned(),
            version: Some(version.to_owned()).filter(|version| !version.is_empty()),
            resume: flags.contains("--session") && flags.contains("--format"),
            fork: flags.contains("--fork"),
            flags,
            ..Capabilities::default()
        };
        known.ephemeral =
            help::numbers(known.version.as_deref()).is_some_and(|version| version >= MEMORY_SINCE);
        known
    }

    fn store(&self, env: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        store::place(env)
    }

    fn session_id(&self, text: &str) -> Result<SessionId, InvalidSessionId> {
        id::session(text)
    }

    fn session_store(&self, store: &Path, _here: &Path) -> Option<Box<dyn SessionStore>> {
        Some(Box::new(sessions::OpenCodeSessions { store: store.to_owned() }))
    }

    fn login(&self, env: &dyn Fn(&str) -> Option<OsString>) -> Option<Login> {
        let data = store::data(env);
        Some(Login::new(
            PROVIDER_KEYS,
            data.iter().map(|data| data.join("auth.json")).collect(),
            "run `opencode auth login`, or set the key of a provider in the environment or its opencode.json",
        ))
    }

    fn hazards(&self, env: &dyn Fn(&str) -> Option<OsString>, store: Option<&Path>) -> Vec<Hazard> {
        let mut all = Vec::new();
        if store.is_none() {
            all.push(Hazard {
                what: "OpenCode keeps its sessions in memory (OPENCODE_DB): every turn replays the history"
                    .into(),
                next: "unset OPENCODE_DB".into(),
            });
        }
        if !config::Config::read(env, Path::new("/")).chooses_a_model(true) {
            all.push(Hazard {
                what: "no model is chosen: OpenCode would send prompts to its own service, so rejoin refuses them"
                    .into(),
                next: "set \"model\" in ~/.config/opencode/opencode.json, or name one with --model provider/model"
                    .into(),
            });
        }
        all
    }

    fn process(&self, request: &ProcessRequest<'_>) -> Result<Process, Refusal> {
        launch::process(request)
    }

    fn session_dir(&self, capabilities: &Capabilities, dir: &str) -> Result<(String, String), Refusal> {
        if !capabilities.ephemeral {
            let text = "this opencode cannot keep its sessions elsewhere (that takes 1.3.0 or newer); update opencode";
            return Err(Refusal::Unsupported(text.into()));
        }
        Ok((store::DATABASE.to_owned(), format!("{dir}/opencode.db")))
    }

    fn look(&self, store: &Path, _dir: &Path, session: &SessionId, wanted: Wanted) -> Look {
        store::look(store, session, wanted)
    }

    fn find_session(&self, store: &Path, _dir: &Path, session: &SessionId) -> Found {
        store::look(store, session, Wanted::default()).found
    }

    fn is_set_up(&self, store: &Path) -> Option<bool> {
        Some(store::is_set_up(store))
    }

    fn witness(&self, found: &Path, session: &SessionId) -> Option<Witness> {
        store::witness(found, session)
    }

    fn damage(&self, found: &Path, session: &SessionId) -> Option<Damage> {
        store::damage(found, session).ok().flatten()
    }
}

/// The flags of a command, if the answer is its help: OpenCode prints that to standard error, some
/// versions behind their log, and for a word it does not know the help of the whole program.
fn flags_of(answer: Option<&ProbeAnswer>, command: &str) -> Option<BTreeSet<String>> {
    let answer = answer.filter(|answer| answer.answered)?;
    let begins = format!("opencode {command}");
    let is_help = |text: &&String| text.lines().any(|line| line.starts_with(&begins));
    [&answer.stdout, &answer.stderr].into_iter().find(is_help).map(|text| help::flags(text))
}
