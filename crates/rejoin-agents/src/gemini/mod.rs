//! Gemini CLI: the command `gemini`.

mod driver;
mod ephemeral;
mod failure;
mod kept_message;
mod launch;
mod limits;
mod mentions;
mod prompt;
mod replay;
mod sessions;
mod settings;
mod store;
mod trust;
mod typed;
mod whole_record;
mod whole_session;
mod wire;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use rejoin_core::{Agent, SessionId, Witness};

use crate::{
    About, Capabilities, Damage, Definition, Found, Hazard, Login, Look, Media, ProbeAnswer, Process,
    ProcessRequest, Refusal, SessionStore, Wanted, damage, help, places,
};

/// The agent's name.
const NAME: &str = "gemini";
/// Stands among the flags of an installation that can print events, which its help tells as one of
/// the choices of `--output-format`.
const STREAM_JSON: &str = "stream-json";

/// Gemini CLI.
pub(crate) struct Gemini;

impl Definition for Gemini {
    fn agent(&self) -> Agent {
        Agent::named(NAME)
    }

    fn about(&self) -> About<'_> {
        About {
            title: "Gemini CLI",
            vendor: "Google",
            command: NAME,
            install_hint: "npm install -g @google/gemini-cli",
            tested_version: "0.61.0",
            wanted_flags: &[
                (STREAM_JSON, "nothing runs: it does not print what it does"),
                ("--resume", "no session can be resumed: every turn replays the history"),
                (
                    "--session-id",
                    "the id of a session is known only after it began, and --ephemeral is refused",
                ),
                ("--skip-trust", "it runs only in directories it was told to trust"),
                ("--approval-mode", "permission levels are refused"),
                ("--admin-policy", "the permission levels read and edit are refused"),
                ("--policy", "--ephemeral is refused where you have policies of your own"),
            ],
            takes: &[Media::Image, Media::Pdf, Media::Text],
        }
    }

    fn learn(&self, answers: &[ProbeAnswer]) -> Capabilities {
        let mut flags = help::flags_of(answers.get(1));
        let text =
            answers.get(1).filter(|answer| answer.answered).map_or("", |answer| answer.stdout.as_str());
        if text.contains(r#""stream-json""#) {
            flags.insert(STREAM_JSON.to_owned());
        }
        Capabilities {
            // "Gemini CLI - Defaults to interactive mode. …"
            product: text.lines().find_map(|line| line.split_once(" - ")).map_or("", |it| it.0).to_owned(),
            version: help::version_line(answers.first()).map(str::to_owned),
            // Another home is a variable, which no help tells of; whoever has the third flag has it.
            ..Capabilities::by_flags(flags, ["--resume", "--session-file", "--session-id", "--session-id"])
        }
    }

    fn store(&self, env: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        let home = places::named(env, "GEMINI_CLI_HOME").or_else(|| places::named(env, "HOME"));
        home.map(|home| home.join(".gemini"))
    }

    fn login(&self, env: &dyn Fn(&str) -> Option<OsString>) -> Option<Login> {
        let store = self.store(env);
        let kept = ["oauth_creds.json", "gemini-credentials.json"];
        Some(Login::new(
            "GEMINI_API_KEY GOOGLE_API_KEY GOOGLE_GENAI_USE_GCA GOOGLE_GENAI_USE_VERTEXAI",
            store.iter().flat_map(|store| kept.map(|name| store.join(name))).collect(),
            "run gemini once and log in, or set GEMINI_API_KEY",
        ))
    }

    fn hazards(&self, env: &dyn Fn(&str) -> Option<OsString>, store: Option<&Path>) -> Vec<Hazard> {
        let Some(store) = store else { return Vec::new() };
        let system = settings::system_dir();
        settings::hazard(store, system, env).into_iter().chain(settings::gateway(store, env)).collect()
    }

    fn process(&self, request: &ProcessRequest<'_>) -> Result<Process, Refusal> {
        launch::process(request)
    }

    fn session_store(&self, store: &Path, here: &Path) -> Option<Box<dyn SessionStore>> {
        Some(Box::new(sessions::GeminiSessions { store: store.to_owned(), here: here.to_owned() }))
    }

    fn look(&self, store: &Path, dir: &Path, session: &SessionId, wanted: Wanted) -> Look {
        let (found, witness) = store::find(store, dir, session);
        let Found::At(path) = &found else { return Look::at_nothing(found) };
        let damage = wanted.damage.then(|| self.damage(path, session)).flatten();
        Look { witness, damage, ..Look::at_nothing(found) }
    }

    fn find_session(&self, store: &Path, dir: &Path, session: &SessionId) -> Found {
        store::find(store, dir, session).0
    }

    fn witness(&self, found: &Path, session: &SessionId) -> Option<Witness> {
        store::witness(found, session)
    }

    fn damage(&self, found: &Path, _session: &SessionId) -> Option<Damage> {
        // Older versions write one value, which was read as a whole to be found.
        let of_lines = found.extension().is_some_and(|extension| extension == "jsonl");
        of_lines.then(|| damage::of_lines(found).ok().flatten()).flatten()
    }

    fn tidy(&self, store: &Path, dir: &Path, session: &SessionId) {
        store::tidy(store, dir, session);
    }
}
