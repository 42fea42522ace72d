//! Pi coding agent: the command `pi`.

mod driver;
mod failure;
mod launch;
mod prompt;
mod sessions;
mod store;
mod turn_tree;
mod typed;
mod whole_session;
mod wire;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use rejoin_core::{Agent, SessionId};

use crate::arguments::missing;
use crate::provider_keys::PROVIDER_KEYS;
use crate::{
    About, Capabilities, Damage, Definition, Found, Login, Media, ProbeAnswer, Process, ProcessRequest,
    Refusal, SessionStore, help, places,
};

/// Pi coding agent.
pub(crate) struct Pi;

/// Names a directory for sessions alone.
const SESSIONS: &str = "PI_CODING_AGENT_SESSION_DIR";

impl Definition for Pi {
    fn agent(&self) -> Agent {
        Agent::named("pi")
    }

    fn about(&self) -> About<'_> {
        About {
            title: "Pi",
            // Whoever the user chose there.
            vendor: "",
            command: "pi",
            install_hint: "npm install -g @earendil-works/pi-coding-agent",
            tested_version: "0.74.2",
            wanted_flags: &[
                ("--mode", "nothing runs: it does not print what it does"),
                ("--session", "no session can be resumed: every turn replays the history"),
                ("--no-session", "--ephemeral is refused"),
                ("--append-system-prompt", "instructions go into the prompt"),
                ("--tools", "the permission level read is refused"),
                ("--no-extensions", "the permission level read is refused"),
                ("--offline", "the permission level read is refused"),
            ],
            takes: &[Media::Image, Media::Text],
        }
    }

    fn learn(&self, answers: &[ProbeAnswer]) -> Capabilities {
        let [version, about] = [0, 1].map(|at| answers.get(at).map(wherever));
        let version = help::version_line(version.as_ref());
        let flags = help::flags_of(about.as_ref());
        // "pi - AI coding assistant with read, bash, edit, write tools"
        let product = help::version_line(about.as_ref()).filter(|line| line.starts_with("pi - "));
        // Other programs have this name, too.
        let is_pi = product.is_some() && flags.contains("--mode");
        if !is_pi {
            return Capabilities { version: version.map(str::to_owned), ..Capabilities::default() };
        }
        Capabilities {
            product: product.and_then(|line| line.split(" with ").next()).unwrap_or_default().to_owned(),
            version: version.map(str::to_owned),
            ..Capabilities::by_flags(flags, ["--session", "--fork", "--no-session", ""])
        }
    }

    fn store(&self, env: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        let home = env("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
        let named = |name: &str| {
            let path = env(name).filter(|path| !path.is_empty())?;
            let at_home =
                path.to_str().and_then(|path| places::expanded(path, || home.clone().unwrap_or_default()));
            Some(at_home.unwrap_or_else(|| path.into()))
        };
        named(SESSIONS)
            .or_else(|| named("PI_CODING_AGENT_DIR"))
            .or_else(|| home.as_ref().map(|home| home.join(".pi/agent")))
    }

    fn takes_instructions(&self, capabilities: &Capabilities) -> bool {
        capabilities.has("--append-system-prompt")
    }

    fn login(&self, env: &dyn Fn(&str) -> Option<OsString>) -> Option<Login> {
        let named = env("PI_CODING_AGENT_DIR").filter(|dir| !dir.is_empty()).map(PathBuf::from);
        let dir = named.or_else(|| Some(Path::new(&env("HOME")?).join(".pi/agent")));
        Some(Login::new(
            PROVIDER_KEYS,
            dir.iter().flat_map(|dir| ["auth.json", "models.json"].map(|name| dir.join(name))).collect(),
            "run pi once and log in with /login, or set the key of a provider",
        ))
    }

    fn process(&self, request: &ProcessRequest<'_>) -> Result<Process, Refusal> {
        launch::process(request, self.agent())
    }

    fn session_dir(&self, capabilities: &Capabilities, dir: &str) -> Result<(String, String), Refusal> {
        // Its help tells of both, this flag and the variable.
        if !capabilities.has("--session-dir") {
            return Err(missing(launch::NAME, "--session-dir", "cannot keep its sessions elsewhere"));
        }
        Ok((SESSIONS.to_owned(), dir.to_owned()))
    }

    fn session_store(&self, store: &Path, here: &Path) -> Option<Box<dyn SessionStore>> {
        let own = store::is_own_directory(store);
        let configured = own.then(|| store::configured(store, here)).flatten();
        Some(Box::new(sessions::PiSessions {
            by_project: own.then(|| store.join("sessions")),
            flat: configured.into_iter().chain([store.to_owned()]).collect(),
        }))
    }

    fn find_session(&self, store: &Path, dir: &Path, session: &SessionId) -> Found {
        store::find(store, dir, session)
    }

    fn damage(&self, found: &Path, _session: &SessionId) -> Option<Damage> {
        store::damage(found).ok().flatten()
    }
}

/// Without a terminal Pi answers on standard error.
fn wherever(answer: &ProbeAnswer) -> ProbeAnswer {
    let mut answer = answer.clone();
    if answer.stdout.trim().is_empty() {
        std::mem::swap(&mut answer.stdout, &mut answer.stderr);
    }
    answer
}
