//! How Codex is started.

use std::ffi::OsString;

use rejoin_core::{Agent, Permissions};

use super::driver::CodexLines;
use super::trust;
use crate::arguments::missing;
use crate::extra_args::{self, Flag, Rules, permission_flag};
use crate::one_shot::OneShot;
use crate::{Capabilities, Process, ProcessRequest, Refusal};

const NAME: &str = "codex";

pub(super) fn process(request: &ProcessRequest<'_>) -> Result<Process, Refusal> {
    request.refuse_instructions(NAME)?;
    let session = request.turn.composed.session();
    if session.is_some() && !request.capabilities.resume {
        return Err(Refusal::Unsupported("this codex has no `exec resume`; update codex".into()));
    }
    if request.ephemeral && !request.capabilities.ephemeral {
        return Err(missing(NAME, "--ephemeral", "cannot run without storing the session"));
    }
    // Codex accepts the flag, and stores the turn all the same (0.166).
    request.refuse_ephemeral_resume(NAME)?;
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
    args.extend(request.model_arg()?);
    if request.ephemeral {
        // A picture of the shell's set-up, under the session's id, would outlive a turn that ends early (0.166.0).
        args.extend(["--ephemeral", "-c", "features.shell_snapshot=false"].map(OsString::from));
    }
    if !request.turn.attachments.is_empty() && !takes_images(request.capabilities, session.is_some()) {
        return Err(missing(NAME, "--image", "takes no attachments here"));
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

/// The user's own arguments.
const RULES: Rules = Rules {
    agent: NAME,
    switches: "--strict-config --oss --ignore-user-config --ignore-rules --dangerously-bypass-hook-trust \
               --skip-git-repo-check",
    short_with_value: "cimpsCoa",
    permissions: "dangerous yolo sandbox approv full-auto permission --add-dir trust -s -a",
    reserved: "--json --experimental-json --ephemeral --last --all --cd --worktree --help --version --color \
               --thread-source -C -h -V",
    ..Rules::NONE
};
/// Parts of settings that are about permissions, and beginnings of those that start programs outside of the sandbox.
const PERMISSIONS: &[&str] = &["dangerous", "yolo", "sandbox", "approv", "full-auto", "permission", "trust"];
const WIDENING: &[&str] = &["mcp_servers", "hooks", "notify", "plugins"];

fn check_extra_args(args: &[String], level: Permissions) -> Result<(), Refusal> {
    RULES.check(args, level)?;
    let limited = matches!(level, Permissions::Read | Permissions::Edit);
    extra_args::check(&RULES, args, |Flag { name, value }| {
        let setting = value.filter(|_| matches!(name, "-c" | "--config")).unwrap_or_default();
        let key = setting.split('=').next().unwrap_or_default().trim();
        let widens = limited && WIDENING.iter().any(|part| key.starts_with(part));
        if widens || key.starts_with("projects") || PERMISSIONS.iter().any(|part| key.contains(part)) {
            return Err(permission_flag(NAME, &format!("{name} {key}")));
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
