//! Qwen Code: the command `qwen`.

mod driver;
mod failure;
mod launch;
mod level;
mod limit;
mod memory;
mod messages;
mod prompt;
mod store;
mod wire;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use rejoin_core::{Agent, InvalidSessionId, SessionId, Usage};

use crate::session_id::lower_case_uuid;
use crate::{Capabilities, Definition, Found, Launch, ProbeAnswer, Refusal, Request, help, nesting};

/// Qwen Code.
pub(crate) struct Qwen;

/// What Qwen Code leaves in the environment of the commands it runs.
const OWN_MARKERS: [&str; 3] = ["QWEN_CODE", "QWEN_CODE_PROJECT_DIR", "QWEN_CODE_SESSION_ID"];

static FOREIGN: [&str; nesting::MARKERS.len() + OWN_MARKERS.len()] = {
    let mut all = [""; nesting::MARKERS.len() + OWN_MARKERS.len()];
    let mut at = 0;
    while at < all.len() {
        let own = at < OWN_MARKERS.len();
        all[at] = if own { OWN_MARKERS[at] } else { nesting::MARKERS[at - OWN_MARKERS.len()] };
        at += 1;
    }
    all
};

impl Definition for Qwen {
    fn agent(&self) -> Agent {
        Agent::Qwen
    }

    fn title(&self) -> &'static str {
        "Qwen Code"
    }

    fn command(&self) -> &'static str {
        "qwen"
    }

    fn install_hint(&self) -> &'static str {
        "npm install -g @qwen-code/qwen-code"
    }

    fn probes(&self) -> &'static [&'static [&'static str]] {
        &[&["--version"], &["--help"]]
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
            resume: flags.contains("--resume"),
            fork: flags.contains("--fork-session"),
            ephemeral: flags.contains("--chat-recording"),
            choose_id: flags.contains("--session-id"),
            ask: false,
            flags,
        }
    }

    fn store(&self, env: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        let named = |name: &str| env(name).filter(|dir| !dir.is_empty()).map(PathBuf::from);
        named("QWEN_RUNTIME_DIR")
            .or_else(|| named("QWEN_HOME"))
            .or_else(|| named("HOME").map(|home| home.join(".qwen")))
    }

    fn foreign_env(&self) -> &'static [&'static str] {
        &FOREIGN
    }

    fn session_id(&self, text: &str) -> Result<SessionId, InvalidSessionId> {
        lower_case_uuid(Agent::Qwen, text)
    }

    fn choose_session(&self, capabilities: &Capabilities, fresh: uuid::Uuid) -> Option<SessionId> {
        self.session_id(&fresh.to_string()).ok().filter(|_| capabilities.choose_id)
    }

    fn takes_instructions(&self, capabilities: &Capabilities) -> bool {
        capabilities.has("--append-system-prompt")
    }

    fn launch(&self, request: Request<'_>) -> Result<Launch, Refusal> {
        launch::launch(request)
    }

    fn find_session(&self, store: &Path, dir: &Path, session: &SessionId) -> Found {
        store::find(store, dir, session)
    }

    fn stored_total(&self, session_file: &Path) -> Option<Usage> {
        store::total(session_file)
    }
}

const PRODUCT: &str = "Qwen Code";
