//! Qwen Code: the command `qwen`.

mod driver;
mod failure;
mod launch;
mod level;
mod memory;
mod prompt;
mod sessions;
mod store;
mod typed_prompt;
mod whole_session;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use rejoin_core::{Agent, SessionId, Usage};

use crate::{
    About, Capabilities, Damage, Definition, Found, Hazard, Login, Media, ProbeAnswer, Process,
    ProcessRequest, Refusal, SessionStore, SessionUser, help, jsonc, places, session_user,
};

/// Qwen Code.
pub(crate) struct Qwen;

impl Definition for Qwen {
    fn agent(&self) -> Agent {
        Agent::Qwen
    }

    fn about(&self) -> About<'_> {
        About {
            title: "Qwen Code",
            // Whoever the user chose there.
            vendor: "",
            command: "qwen",
            install_hint: "npm install -g @qwen-code/qwen-code",
            tested_version: "0.15.10",
            wanted_flags: &[
                ("--output-format", "nothing runs"),
                ("--resume", "every turn is told the whole history"),
                ("--session-id", "a session is known only once qwen has begun"),
                ("--include-partial-messages", "answers come in one piece"),
                ("--chat-recording", "--ephemeral is refused"),
                ("--append-system-prompt", "instructions go into the prompt"),
                ("--approval-mode", "the levels of permissions are refused"),
                ("--allowed-tools", "the level edit is refused"),
                ("--exclude-tools", "the levels read and edit are refused"),
                ("--core-tools", "the level read is refused"),
                ("--allowed-mcp-server-names", "the level read is refused"),
            ],
            takes: &[Media::Image, Media::Text],
        }
    }

    fn learn(&self, answers: &[ProbeAnswer]) -> Capabilities {
        // Its version is a bare number; only the help says what it is.
        let version = help::version_line(answers.first()).map(str::to_owned);
        let flags = help::flags_of(answers.get(1));
        let about = answers.get(1).filter(|answer| answer.answered).map(|answer| answer.stdout.as_str());
        let product = about.filter(|help| help.contains(PRODUCT)).map_or("", |_| PRODUCT);
        Capabilities {
            product: product.to_owned(),
            version,
            ..Capabilities::by_flags(
                flags,
                ["--resume", "--fork-session", "--chat-recording", "--session-id"],
            )
        }
    }

    fn store(&self, env: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        places::named(env, RUNTIME).or_else(|| settings_dir(env))
    }

    fn session_users(&self, store: &Path, session: &SessionId) -> Vec<SessionUser> {
        let mut users = session_user::by_process_files(&store.join("sessions"), session);
        for project in places::entries(&store.join("projects")).unwrap_or_default() {
            users.extend(session_user::by_file(
                &project.join(format!("chats/{session}.runtime.json")),
                session,
            ));
        }
        users
    }

    fn takes_instructions(&self, capabilities: &Capabilities) -> bool {
        capabilities.has("--append-system-prompt")
    }

    fn process(&self, request: &ProcessRequest<'_>) -> Result<Process, Refusal> {
        launch::process(request)
    }

    fn session_dir(&self, capabilities: &Capabilities, dir: &str) -> Result<(String, String), Refusal> {
        let version = capabilities.version.as_deref().unwrap_or_default();
        let mut numbers = version.split('.').map(|number| number.parse::<u32>().unwrap_or_default());
        if (numbers.next(), numbers.next()) < (Some(0), Some(15)) {
            return Err(Refusal::Unsupported(format!(
                "it is not known whether this qwen ({version}) can keep its sessions elsewhere; update qwen"
            )));
        }
        Ok((RUNTIME.to_owned(), dir.to_owned()))
    }

    fn session_store(&self, store: &Path, here: &Path) -> Option<Box<dyn SessionStore>> {
        let mut places = vec![store.to_owned()];
        places.extend(store::configured(store, here).filter(|place| place != store));
        Some(Box::new(sessions::QwenSessions { places }))
    }

    fn find_session(&self, store: &Path, dir: &Path, session: &SessionId) -> Found {
        store::find(store, dir, session)
    }

    fn login(&self, env: &dyn Fn(&str) -> Option<OsString>) -> Option<Login> {
        Some(Login::new(
            "OPENAI_API_KEY DASHSCOPE_API_KEY GEMINI_API_KEY ANTHROPIC_API_KEY",
            settings_dir(env).iter().map(|dir| dir.join("oauth_creds.json")).collect(),
            "run qwen once and log in, or set OPENAI_API_KEY",
        ))
    }

    fn hazards(&self, env: &dyn Fn(&str) -> Option<OsString>, _store: Option<&Path>) -> Vec<Hazard> {
        let Some(file) = settings_dir(env).map(|dir| dir.join("settings.json")) else { return Vec::new() };
        let settings = jsonc::file(&file);
        let records = settings.and_then(|settings| settings.pointer("/general/chatRecording")?.as_bool());
        let hazard = Hazard {
            what: "Qwen stores no session: every turn replays the history".into(),
            next: format!("take \"chatRecording\": false out of {}", file.display()),
        };
        (records == Some(false)).then_some(hazard).into_iter().collect()
    }

    fn damage(&self, found: &Path, _session: &SessionId) -> Option<Damage> {
        store::damage(found).ok().flatten()
    }

    fn stored_total(&self, session_file: &Path) -> Option<Usage> {
        store::total(session_file)
    }
}

/// Names a directory for sessions and the like; logins and settings stay where they are.
const RUNTIME: &str = "QWEN_RUNTIME_DIR";

const PRODUCT: &str = "Qwen Code";
const NAME: &str = "qwen";

/// Qwen counts what came from the cache as input too, and thinking only in the total (0.15.10).
fn counted(input: u64, cached: u64, output: u64, total: u64) -> Usage {
    let output = output.max(total.saturating_sub(input));
    Usage { input: input.saturating_sub(cached), cached, output }
}

/// The directory of its settings.
fn settings_dir(env: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    places::named(env, "QWEN_HOME").or_else(|| places::at_home(env, ".qwen"))
}
