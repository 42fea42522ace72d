//! How Gemini is started.

use std::ffi::OsString;
use std::path::Path;

use rejoin_core::Agent;

use super::driver::GeminiLines;
use super::{NAME, STREAM_JSON, ephemeral, limits, settings, trust};
use crate::extra_args::Rules;
use crate::one_shot::OneShot;
use crate::{Capabilities, Process, ProcessRequest, Refusal, arguments};

pub(super) fn process(request: &ProcessRequest<'_>) -> Result<Process, Refusal> {
    let capabilities = request.capabilities;
    let (dir, store, env) = (request.dir, request.store, request.env);
    RULES.check(request.extra_args, request.turn.permissions)?;
    request.refuse_instructions(NAME)?;
    if !capabilities.flags.is_empty() && !capabilities.has(STREAM_JSON) {
        return Err(missing(capabilities, "--output-format stream-json", "does not print what it does"));
    }

    let mut files = Vec::new();
    let mut warnings = Vec::new();
    // Without it a wrapper takes the signals and the real process lives on (0.61.0).
    let mut additions = vec![("GEMINI_CLI_NO_RELAUNCH".to_owned(), "1".to_owned())];
    let mut scratch = None;
    let mut args: Vec<OsString> = request.extra_args.iter().map(OsString::from).collect();
    args.push("--output-format=stream-json".into());
    if request.resumes() && !capabilities.resume {
        return Err(missing(capabilities, "--resume", "cannot resume a session"));
    }
    args.extend(request.session_arg(NAME)?);
    args.extend(request.model_arg()?);
    let level =
        limits::level(request.turn.permissions, capabilities, request.own_dir, settings::system_dir())?;
    let limit = level.limit();
    args.extend(level.args);
    files.extend(level.file);
    let told = request.extra_args.iter().any(|arg| is_about_trust(arg));
    if !told && capabilities.has("--skip-trust") && trust::is_harmless(dir, store, env) {
        args.push("--skip-trust".into());
    }
    if request.ephemeral {
        request.refuse_ephemeral_resume(NAME)?;
        let place = request.own_dir.join(format!("ephemeral-{}", (request.turn.ids)()));
        let home = ephemeral::home(place, store, capabilities, env)?;
        args.extend(home.args);
        additions.extend(home.env);
        files.extend(home.files);
        warnings.extend(home.warning);
        scratch = Some(home.dir);
    } else {
        let retention = settings::keep_sessions(request.own_dir, store, settings::system_dir(), env);
        additions.extend(retention.env);
        files.extend(retention.file);
        // Once for each session; `doctor` tells it at any time.
        warnings.extend(retention.warning.filter(|_| request.turn.composed.session().is_none()));
    }

    let attached = request.turn.copies_flag(NAME, capabilities)?;
    let copies = attached.is_some();
    args.extend(attached.map(OsString::from));
    let lines = GeminiLines::new(dir.to_owned(), store.map(Path::to_owned), limit);
    let driver = OneShot::driver(Agent::named(NAME), !request.ephemeral, lines);
    Ok(Process { env: additions, warnings, files, copies, scratch, ..Process::new(args, driver) })
}

/// Why something is refused whose flag is not there.
pub(super) fn missing(capabilities: &Capabilities, flag: &str, what: &str) -> Refusal {
    if capabilities.flags.is_empty() {
        return Refusal::Unsupported(format!(
            "gemini did not tell whether it has {flag}, without which it {what}: `gemini --help` gave no answer"
        ));
    }
    arguments::missing(NAME, flag, what)
}

/// The user's own arguments. Gemini also reads `--approvalMode`, so names are compared without their dashes and
/// in lower case.
const RULES: Rules = Rules {
    agent: NAME,
    switches: "--debug --screen-reader --skip-trust --raw-output --accept-raw-output-risk",
    short_with_value: "mpiwero",
    permissions: "yolo approval policy allowedtools excludetools sandbox -y -s",
    widening_read: WIDENING,
    widening_edit: WIDENING,
    reserved: "resume session prompt query format output worktree acp version help list delete ignoreenv \
               fakeresponses recordresponses iscommand -p -i -w -r -o -l -v -h",
    spelled: |name| name.replace('-', "").to_lowercase(),
    ..Rules::NONE
};
const WIDENING: &str = "includedirectories allowedmcp extensions trust -e";

fn is_about_trust(arg: &str) -> bool {
    arg.starts_with("--") && arg.to_lowercase().contains("trust")
}
