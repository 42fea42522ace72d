//! How Codex is started.

use std::ffi::OsString;

use rejoin_core::{Agent, Permissions};

use super::driver::CodexLines;
use super::trust;
use crate::extra_args::{self, Flag, Syntax, permission_flag, reserved_flag};
use crate::one_shot::OneShot;
use crate::{Capabilities, Process, ProcessRequest, Refusal, checks};

const NAME: &str = "codex";

pub(super) fn process(request: &ProcessRequest<'_>) -> Result<Process, Refusal> {
    if request.system_prompt.or(request.append_system_prompt).is_some() {
        return Err(Refusal::Unsupported("codex takes no instructions by argument".into()));
    }
    let session = request.turn.composed.session();
    if session.is_some() && !request.capabilities.resume {
        return Err(Refusal::Unsupported("this codex has no `exec resume`; update codex".into()));
    }
    if request.ephemeral && !request.capabilities.ephemeral {
        return Err(Refusal::Unsupported(
            "this codex cannot run without storing the session (its help has no --ephemeral); update codex"
                .into(),
        ));
    }
    if request.ephemeral && session.is_some() {
        // Codex accepts the flag, and stores the turn all the same.
        return Err(Refusal::Unsupported("codex cannot resume a session without adding to it".into()));
    }
    check_extra_args(request.extra_args, request.turn.permissions)?;
    let (before, after) = placed(request.extra_args, session.is_some(), request.capabilities);

    let mut warnings = Vec::new();
    let mut args: Vec<OsString> = vec!["exec".into()];
    args.extend(before);
    for setting in settings(request, &mut warnings) {
        args.extend(["-c".into(), setting.into()]);
    }
    if session.is_some() {
        args.push("resume".into());
    }
    args.extend(after);
    args.extend(["--json", "--skip-git-repo-check"].map(OsString::from));
    if let Some(model) = request.turn.model {
        args.push(format!("--model={}", checks::model(model)?).into());
    }
    if request.ephemeral {
        // A picture of the shell's set-up, under the session's id, would outlive a turn that ends early.
        args.extend(["--ephemeral", "-c", "features.shell_snapshot=false"].map(OsString::from));
    }
    if !request.turn.attachments.is_empty() && !takes_images(request.capabilities, session.is_some()) {
        return Err(Refusal::Unsupported(
            "this codex takes no attachments here (its help has no --image); update codex".into(),
        ));
    }
    for copy in request.turn.copies(NAME)? {
        args.push(format!("--image={copy}").into());
    }
    args.extend(session.map(|session| OsString::from(session.as_str())));
    args.push("-".into());

    let copies = !request.turn.attachments.is_empty();
    let driver = OneShot::driver(Agent::Codex, !request.ephemeral, CodexLines::default());
    Ok(Process { warnings, copies, ..Process::new(args, driver) })
}

/// Whether a file can go along: `exec` and `exec resume` each have a flag of their own.
fn takes_images(capabilities: &Capabilities, resumes: bool) -> bool {
    capabilities.has(if resumes { "resume --image" } else { "--image" })
}

/// What is set for this run only.
fn settings(request: &ProcessRequest<'_>, warnings: &mut Vec<String>) -> Vec<String> {
    let sandbox = match request.turn.permissions {
        Permissions::Agent => return Vec::new(),
        Permissions::Read => "read-only",
        Permissions::Edit => "workspace-write",
        Permissions::Full => "danger-full-access",
    };
    let mut settings = vec![format!("sandbox_mode=\"{sandbox}\"")];
    let config = trust::configuration(request.store);
    if request.turn.permissions != Permissions::Full && trust::has_servers(&config) {
        warnings.push("the MCP servers in your Codex configuration run outside of its sandbox".to_owned());
    }
    // Only a new session that may write touches the user's configuration.
    let writes = request.turn.permissions != Permissions::Read;
    if writes && request.turn.composed.session().is_none() {
        if request.dir.to_str().is_none() {
            warnings.push("Codex will note this directory as trusted in its configuration".to_owned());
        }
        settings.extend(trust::unchanged(&config, request.dir));
    }
    settings
}

const SYNTAX: Syntax = Syntax {
    switches: &[
        "--strict-config",
        "--oss",
        "--ignore-user-config",
        "--ignore-rules",
        "--dangerously-bypass-hook-trust",
        "--skip-git-repo-check",
    ],
    short_with_value: &['c', 'i', 'm', 'p', 's', 'C', 'o', 'a'],
};
/// Parts of names and of settings that are about permissions.
const PERMISSIONS: &[&str] =
    &["dangerous", "yolo", "sandbox", "approv", "full-auto", "permission", "--add-dir", "trust"];
const RESERVED: &[&str] = &[
    "--json",
    "--experimental-json",
    "--ephemeral",
    "--last",
    "--all",
    "--cd",
    "--worktree",
    "--help",
    "--version",
    "--color",
    "--thread-source",
];

/// Settings that start programs outside of the sandbox.
const WIDENING: &[&str] = &["mcp_servers", "hooks", "notify", "plugins"];

fn check_extra_args(args: &[String], level: Permissions) -> Result<(), Refusal> {
    let limited = matches!(level, Permissions::Read | Permissions::Edit);
    extra_args::check(NAME, args, SYNTAX, |Flag { name, value }| {
        let is_setting = matches!(name, "-c" | "--config");
        let setting = value.filter(|_| is_setting).unwrap_or_default();
        let key = setting.split('=').next().unwrap_or_default().trim();
        let about = |text: &str| PERMISSIONS.iter().any(|part| text.contains(part));
        let widens =
            key.starts_with("projects") || WIDENING.iter().any(|part| limited && key.starts_with(part));
        if about(name) || about(key) || widens || ["-s", "-a"].contains(&name) {
            let what = if is_setting { format!("{name} {key}") } else { name.to_owned() };
            return Err(permission_flag(NAME, &what));
        }
        if RESERVED.contains(&name) || ["-C", "-h", "-V"].contains(&name) {
            return Err(reserved_flag(NAME, name));
        }
        Ok(())
    })
}

/// Puts each of the user's arguments where Codex accepts it: those that `exec resume` has stand
/// behind it, the others before.
fn placed(args: &[String], resumes: bool, capabilities: &Capabilities) -> (Vec<OsString>, Vec<OsString>) {
    let (mut before, mut after) = (Vec::new(), Vec::new());
    let mut behind = false;
    for arg in args {
        if arg.starts_with('-') {
            let name = if arg.starts_with("--") { arg.split('=').next() } else { arg.get(..2) };
            behind = resumes && capabilities.has(&format!("resume {}", name.unwrap_or(arg)));
        }
        if behind { &mut after } else { &mut before }.push(OsString::from(arg));
    }
    (before, after)
}
