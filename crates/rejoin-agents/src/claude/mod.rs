//! Claude Code: the command `claude`.

mod driver;
mod failure;
mod launch;
mod prompt;
mod questions;
mod sessions;
mod store;
mod typed_prompt;
mod whole_session;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use rejoin_core::{Agent, SessionId};

use crate::{
    About, Capabilities, Definition, Found, Hazard, Login, Media, ProbeAnswer, Process, ProcessRequest,
    Refusal, SessionStore, SessionUser, help, jsonc, places, session_user,
};

/// Claude Code.
pub(crate) struct Claude;

impl Definition for Claude {
    fn agent(&self) -> Agent {
        Agent::Claude
    }

    fn about(&self) -> About<'_> {
        About {
            title: "Claude Code",
            vendor: "Anthropic",
            command: "claude",
            install_hint: "npm install -g @anthropic-ai/claude-code",
            tested_version: "2.1.197",
            wanted_flags: &[
                ("--resume", "no session can be resumed: every turn replays the history"),
                ("--session-id", "the id of a session is known only after it began"),
                ("--input-format", "prompts with / and @ are changed, and it cannot ask"),
                ("--include-partial-messages", "answers come in one piece"),
                ("--no-session-persistence", "--ephemeral is refused"),
                ("--permission-mode", "permission levels are refused"),
                ("--tools", "the permission level read is refused"),
                ("--strict-mcp-config", "the permission level read is refused"),
                ("--settings", "the permission level read is refused"),
                ("--append-system-prompt", "instructions go into the prompt"),
            ],
            takes: &[Media::Image, Media::Pdf, Media::Text],
        }
    }

    fn learn(&self, answers: &[ProbeAnswer]) -> Capabilities {
        // "2.1.197 (Claude Code)"
        let line = help::version_line(answers.first()).unwrap_or_default();
        let (version, product) = line.split_once(" (").unwrap_or((line, ""));
        let flags = help::flags_of(answers.get(1));
        let means = ["--resume", "--fork-session", "--no-session-persistence", "--session-id"];
        Capabilities {
            product: product.trim_end_matches(')').to_owned(),
            version: Some(version.to_owned()).filter(|version| !version.is_empty()),
            ask: flags.contains("--input-format"),
            ..Capabilities::by_flags(flags, means)
        }
    }

    fn store(&self, env: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        places::named(env, "CLAUDE_CONFIG_DIR").or_else(|| places::at_home(env, ".claude"))
    }

    fn session_store(&self, store: &Path, _here: &Path) -> Option<Box<dyn SessionStore>> {
        Some(Box::new(sessions::ClaudeSessions { projects: store.join("projects") }))
    }

    fn session_users(&self, store: &Path, session: &SessionId) -> Vec<SessionUser> {
        session_user::by_process_files(&store.join("sessions"), session)
    }

    fn takes_instructions(&self, capabilities: &Capabilities) -> bool {
        capabilities.has("--append-system-prompt")
    }

    fn login(&self, env: &dyn Fn(&str) -> Option<OsString>) -> Option<Login> {
        Some(Login::new(
            "ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN CLAUDE_CODE_OAUTH_TOKEN CLAUDE_CODE_USE_BEDROCK \
             CLAUDE_CODE_USE_FOUNDRY CLAUDE_CODE_USE_VERTEX",
            self.store(env).iter().map(|store| store.join(".credentials.json")).collect(),
            "run claude once and log in with /login, or set ANTHROPIC_API_KEY",
        ))
    }

    /// It deletes what is older than its settings say.
    fn hazards(&self, _env: &dyn Fn(&str) -> Option<OsString>, store: Option<&Path>) -> Vec<Hazard> {
        const USUAL: u64 = 30;
        let Some(file) = store.map(|store| store.join("settings.json")) else { return Vec::new() };
        let settings = jsonc::file(&file);
        let days = settings.and_then(|settings| settings.get("cleanupPeriodDays")?.as_u64());
        let soon = days.filter(|days| *days < USUAL);
        let hazard = |days| Hazard {
            what: format!("Claude deletes sessions after {days} days; rejoin then replays the history"),
            next: format!("raise \"cleanupPeriodDays\" in {}", file.display()),
        };
        soon.map(hazard).into_iter().collect()
    }

    fn process(&self, request: &ProcessRequest<'_>) -> Result<Process, Refusal> {
        launch::process(request)
    }

    fn find_session(&self, store: &Path, dir: &Path, session: &SessionId) -> Found {
        store::find(store, dir, session)
    }
}
