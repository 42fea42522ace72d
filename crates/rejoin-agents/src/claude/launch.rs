//! How Claude is started.

use std::ffi::OsString;

use rejoin_core::{Agent, Permissions};

use super::driver::ClaudeLines;
use crate::extra_args::{self, Flag, Syntax, permission_flag, reserved_flag};
use crate::one_shot::OneShot;
use crate::stream_json::Limit;
use crate::{Capabilities, Process, ProcessRequest, Refusal, checks};

const NAME: &str = "claude";
/// All that exists for Claude at the level `read`; the last one only if somebody can answer.
const READING_TOOLS: &str = "Read,Glob,Grep";
const ASKING_TOOL: &str = "AskUserQuestion";
/// Claude runs the hooks of a repository nobody has trusted yet: commands, at whatever level.
const NO_HOOKS: &str = r#"--settings={"disableAllHooks":true}"#;
/// Tools that may show up at that level: they change nothing.
const HARMLESS_TOOLS: &[&str] =
    &["Read", "Glob", "Grep", "LS", "NotebookRead", "ToolSearch", "StructuredOutput", ASKING_TOOL];

/// Not the mode in which Claude asks for nothing.
const UNASKED: Limit = Limit { modes: &["bypassPermissions"], only: None, without: &[] };

pub(super) fn process(request: &ProcessRequest<'_>) -> Result<Process, Refusal> {
    let capabilities = request.capabilities;
    let composed = request.turn.composed;
    check_extra_args(request.extra_args, request.turn.permissions)?;

    let chat = capabilities.has("--input-format");
    let asks = chat && request.turn.can_ask;
    // The user's arguments come first: what follows wins, and a flag of theirs that lacks its value
    // swallows --verbose, without which Claude refuses to run.
    let mut args: Vec<OsString> = request.extra_args.iter().map(OsString::from).collect();
    args.extend(["--verbose", "-p", "--output-format", "stream-json"].map(OsString::from));
    if chat {
        args.extend(["--input-format", "stream-json"].map(OsString::from));
    }
    if capabilities.has("--include-partial-messages") {
        args.push("--include-partial-messages".into());
    }
    match (composed.session(), request.new_session) {
        (Some(_), _) if !capabilities.resume => return Err(missing("--resume", "cannot resume a session")),
        (Some(session), _) => args.push(format!("--resume={session}").into()),
        (None, Some(session)) if capabilities.choose_id => {
            args.push(format!("--session-id={session}").into());
        }
        (None, _) => {}
    }
    if request.ephemeral {
        if !capabilities.ephemeral {
            return Err(missing("--no-session-persistence", "cannot run without storing the session"));
        }
        args.push("--no-session-persistence".into());
    }
    if let Some(model) = request.turn.model {
        args.push(format!("--model={}", checks::model(model)?).into());
    }
    for (flag, text) in
        [("--system-prompt", request.system_prompt), ("--append-system-prompt", request.append_system_prompt)]
    {
        if let Some(text) = text {
            if !capabilities.has(flag) {
                return Err(missing(flag, "takes no instructions by argument"));
            }
            args.push(format!("{flag}={}", checks::instructions(text)?).into());
        }
    }
    let limit = permissions(request.turn.permissions, capabilities, asks, &mut args)?;
    if asks {
        args.extend(["--permission-prompt-tool", "stdio"].map(OsString::from));
    }

    if !chat && !request.turn.attachments.is_empty() {
        return Err(missing("--input-format", "takes no attachments"));
    }
    let driver = OneShot::driver(Agent::Claude, !request.ephemeral, ClaudeLines::new(chat, limit));
    Ok(Process::new(args, driver))
}

/// The arguments of a level, and what Claude must show at its start.
fn permissions(
    level: Permissions,
    capabilities: &Capabilities,
    asks: bool,
    args: &mut Vec<OsString>,
) -> Result<Limit, Refusal> {
    let needs = |flag: &str| {
        if capabilities.has(flag) {
            return Ok(());
        }
        Err(Refusal::Permissions(format!(
            "this claude has no {flag}, so the level {:?} cannot be enforced; update claude or choose another level",
            level.name()
        )))
    };
    match level {
        Permissions::Agent => Ok(Limit::default()),
        Permissions::Read => {
            needs("--tools")?;
            needs("--strict-mcp-config")?;
            needs("--settings")?;
            needs("--permission-mode")?;
            let asking = if asks { format!(",{ASKING_TOOL}") } else { String::new() };
            args.push(format!("--tools={READING_TOOLS}{asking}").into());
            args.extend(["--strict-mcp-config", NO_HOOKS, "--permission-mode=default"].map(OsString::from));
            Ok(Limit { only: Some(HARMLESS_TOOLS), ..UNASKED })
        }
        Permissions::Edit => {
            needs("--permission-mode")?;
            args.push("--permission-mode=acceptEdits".into());
            Ok(UNASKED)
        }
        Permissions::Full => {
            needs("--permission-mode")?;
            args.push("--permission-mode=bypassPermissions".into());
            Ok(Limit::default())
        }
    }
}

fn missing(flag: &str, what: &str) -> Refusal {
    Refusal::Unsupported(format!("this claude {what} (its help has no {flag}); update claude"))
}

const SYNTAX: Syntax = Syntax {
    switches: &[
        "--ax-screen-reader",
        "--bare",
        "--brief",
        "--chrome",
        "--no-chrome",
        "--disable-slash-commands",
        "--exclude-dynamic-system-prompt-sections",
        "--ide",
        "--include-hook-events",
        "--include-partial-messages",
        "--replay-user-messages",
        "--safe-mode",
        "--strict-mcp-config",
        "--verbose",
    ],
    short_with_value: &['d', 'n'],
};
/// Parts of names that are about permissions, whatever a version calls them in full.
const PERMISSIONS: &[&str] = &["permission", "dangerous", "sandbox", "allow", "--tools", "--setting"];
/// Fine although they contain such a part: they only take away.
const NARROWING: &[&str] = &["--disallowedTools", "--disallowed-tools"];
/// They give reach to places outside the project, or tools nobody counted.
const WIDENING_READ: &[&str] =
    &["--add-dir", "--mcp-config", "--plugin", "--agent", "--chrome", "--ide", "--file"];
const WIDENING_EDIT: &[&str] = &["--add-dir"];
/// Parts of names that are about sessions, directories and formats.
const RESERVED: &[&str] = &[
    "resume",
    "session",
    "continue",
    "fork",
    "--from-pr",
    "format",
    "--print",
    "--bg",
    "--background",
    "--worktree",
    "--tmux",
    "--remote",
    "--teleport",
    "--rewind",
    "--help",
    "--version",
    "--cwd",
    "--init",
    "--replay",
];

fn check_extra_args(args: &[String], level: Permissions) -> Result<(), Refusal> {
    extra_args::check(NAME, args, SYNTAX, |Flag { name, .. }| {
        let part = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
        if NARROWING.contains(&name) {
            return Ok(());
        }
        let widens = match level {
            Permissions::Read => part(WIDENING_READ),
            Permissions::Edit => part(WIDENING_EDIT),
            Permissions::Full | Permissions::Agent => false,
        };
        if part(PERMISSIONS) || widens {
            return Err(permission_flag(NAME, name));
        }
        if part(RESERVED) || ["-p", "-c", "-r", "-w", "-v", "-h"].contains(&name) {
            return Err(reserved_flag(NAME, name));
        }
        Ok(())
    })
}
