//! How Gemini is started.

use std::ffi::OsString;
use std::path::Path;

use rejoin_core::{Agent, Permissions};

use super::driver::GeminiLines;
use super::{NAME, STREAM_JSON, ephemeral, limits, settings, trust};
use crate::extra_args::{self, Flag, Syntax, permission_flag, reserved_flag};
use crate::one_shot::OneShot;
use crate::{Capabilities, Process, ProcessRequest, Refusal, checks};

pub(super) fn process(request: &ProcessRequest<'_>) -> Result<Process, Refusal> {
    let capabilities = request.capabilities;
    let (dir, store, env) = (request.dir, request.store, request.env);
    check_extra_args(request.extra_args, request.turn.permissions)?;
    if request.system_prompt.or(request.append_system_prompt).is_some() {
        return Err(Refusal::Unsupported("gemini takes no instructions by argument".into()));
    }
    if !capabilities.flags.is_empty() && !capabilities.has(STREAM_JSON) {
        return Err(missing(capabilities, "--output-format stream-json", "does not print what it does"));
    }

    let mut files = Vec::new();
    let mut warnings = Vec::new();
    let mut additions = vec![("GEMINI_CLI_NO_RELAUNCH".to_owned(), "1".to_owned())];
    let mut scratch = None;
    let mut args: Vec<OsString> = request.extra_args.iter().map(OsString::from).collect();
    args.push("--output-format=stream-json".into());
    args.extend(session(request)?);
    if let Some(model) = request.turn.model {
        args.push(format!("--model={}", checks::model(model)?).into());
    }
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
        if request.turn.composed.session().is_some() {
            return Err(Refusal::Unsupported("gemini cannot resume a session without adding to it".into()));
        }
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

/// Which session.
fn session(request: &ProcessRequest<'_>) -> Result<Option<OsString>, Refusal> {
    let Capabilities { resume, choose_id, .. } = request.capabilities;
    Ok(match (request.turn.composed.session(), request.new_session) {
        (Some(_), _) if !resume => {
            return Err(missing(request.capabilities, "--resume", "cannot resume a session"));
        }
        (Some(session), _) => Some(format!("--resume={session}").into()),
        (None, Some(session)) if *choose_id => Some(format!("--session-id={session}").into()),
        (None, _) => None,
    })
}

/// Why something is refused whose flag is not there.
pub(super) fn missing(capabilities: &Capabilities, flag: &str, what: &str) -> Refusal {
    Refusal::Unsupported(if capabilities.flags.is_empty() {
        format!(
            "gemini did not tell whether it has {flag}, without which it {what}: `gemini --help` gave no answer"
        )
    } else {
        format!("this gemini {what} (its help has no {flag}); update gemini")
    })
}

const SYNTAX: Syntax = Syntax {
    switches: &["--debug", "--screen-reader", "--skip-trust", "--raw-output", "--accept-raw-output-risk"],
    short_with_value: &['m', 'p', 'i', 'w', 'e', 'r', 'o'],
};
/// Parts of names that are about permissions. Gemini also reads `--approvalMode`, so names are
/// compared without their dashes and in lower case.
const PERMISSIONS: &[&str] = &["yolo", "approval", "policy", "allowedtools", "excludetools", "sandbox"];
/// They give reach to places outside the project, or tools nobody counted.
const WIDENING: &[&str] = &["includedirectories", "allowedmcp", "extensions", "trust"];
const RESERVED: &[&str] = &[
    "resume",
    "session",
    "prompt",
    "query",
    "format",
    "output",
    "worktree",
    "acp",
    "version",
    "help",
    "list",
    "delete",
    "ignoreenv",
    "fakeresponses",
    "recordresponses",
    "iscommand",
];

fn check_extra_args(args: &[String], level: Permissions) -> Result<(), Refusal> {
    extra_args::check(NAME, args, SYNTAX, |Flag { name, .. }| {
        let plain: String = name.chars().filter(|c| *c != '-').collect::<String>().to_lowercase();
        let part = |parts: &[&str]| name.starts_with("--") && parts.iter().any(|part| plain.contains(part));
        let limited = matches!(level, Permissions::Read | Permissions::Edit);
        if part(PERMISSIONS) || ["-y", "-s"].contains(&name) || (limited && (part(WIDENING) || name == "-e"))
        {
            return Err(permission_flag(NAME, name));
        }
        if part(RESERVED) || ["-p", "-i", "-w", "-r", "-o", "-l", "-v", "-h"].contains(&name) {
            return Err(reserved_flag(NAME, name));
        }
        Ok(())
    })
}

fn is_about_trust(arg: &str) -> bool {
    arg.starts_with("--") && arg.to_lowercase().contains("trust")
}
