//! How Qwen is started.

use std::ffi::OsString;

use rejoin_core::{Agent, Permissions};

use super::driver::QwenLines;
use super::{NAME, level, memory};
use crate::extra_args::{self, Flag, Syntax, permission_flag, reserved_flag};
use crate::one_shot::OneShot;
use crate::{Process, ProcessRequest, Refusal, checks};

pub(super) fn process(request: &ProcessRequest<'_>) -> Result<Process, Refusal> {
    let capabilities = request.capabilities;
    let composed = request.turn.composed;
    check_extra_args(request.extra_args, request.turn.permissions)?;

    // The user's arguments come first: what follows wins, and a list of theirs ends at a flag.
    let mut args: Vec<OsString> = request.extra_args.iter().map(OsString::from).collect();
    if !capabilities.has("--output-format") {
        return Err(missing("--output-format", "cannot report what it does"));
    }
    args.push("--output-format=stream-json".into());
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
            return Err(missing("--chat-recording", "cannot run without storing the session"));
        }
        args.push("--chat-recording=false".into());
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
    let (limit, widened) =
        level::permissions(request.turn.permissions, capabilities, request.dir, &mut args)?;

    let attached = request.turn.copies_flag(NAME, capabilities)?;
    let copies = attached.is_some();
    args.extend(attached.map(OsString::from));
    let warnings = Vec::from_iter(widened);
    let place =
        request.ephemeral.then(|| request.own_dir.join(format!("ephemeral-{}", (request.turn.ids)())));
    let elsewhere = request.extra_args.iter().any(|arg| arg.contains("-dir"));
    let lines = QwenLines::new(request.dir.to_owned(), elsewhere, limit);
    let driver = OneShot::driver(Agent::Qwen, !request.ephemeral, lines);
    // Without it a wrapper takes the signals and the real process lives on.
    let env = vec![("QWEN_CODE_NO_RELAUNCH".to_owned(), "true".to_owned())];
    let mut process = Process { env, warnings, copies, ..Process::new(args, driver) };
    if let Some(place) = place {
        memory::forget(&mut process, place, request.env);
    }
    Ok(process)
}

fn missing(flag: &str, what: &str) -> Refusal {
    Refusal::Unsupported(format!("this qwen {what} (its help has no {flag}); update qwen"))
}

const SYNTAX: Syntax = Syntax {
    switches: &[
        "--bare",
        "--checkpointing",
        "--debug",
        "--experimental-lsp",
        "--include-partial-messages",
        "--insecure",
        "--openai-logging",
        "--safe-mode",
        "--screen-reader",
        "--telemetry",
        "--telemetry-log-prompts",
    ],
    short_with_value: &['m', 'e'],
};
/// Parts of names that are about permissions, whatever a version calls them in full.
const PERMISSIONS: &[&str] =
    &["approval", "yolo", "sandbox", "allowed", "core-tools", "exclude-tools", "trust"];
/// They give reach to places outside the project, or tools nobody counted.
const WIDENING: &[&str] = &["dir", "--mcp-config", "--extensions", "--experimental-lsp"];
/// Parts of names that are about sessions, directories and formats.
const RESERVED: &[&str] = &[
    "resume",
    "session-id",
    "fork-session",
    "continue",
    "chat-recording",
    "format",
    "prompt",
    "json-",
    "input-file",
    "acp",
    "worktree",
    "list-extensions",
    "restore",
    "channel",
    "--help",
    "--version",
    "api-key",
];

fn check_extra_args(args: &[String], level: Permissions) -> Result<(), Refusal> {
    extra_args::check(NAME, args, SYNTAX, |Flag { name, .. }| {
        // Its parser takes --noX, --no-X and --camelCase for the same flag.
        let name_as_listed = name;
        let name = dashed(name);
        let part = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
        let limited = matches!(level, Permissions::Read | Permissions::Edit);
        let short = |letters: &[&str]| letters.contains(&name_as_listed);
        if part(PERMISSIONS) || short(&["-y", "-s"]) || limited && (part(WIDENING) || short(&["-e"])) {
            return Err(permission_flag(NAME, name_as_listed));
        }
        if part(RESERVED) || short(&["-p", "-i", "-c", "-r", "-o", "-l", "-v", "-h"]) {
            return Err(reserved_flag(NAME, name_as_listed));
        }
        Ok(())
    })
}

/// A flag in the spelling of the help: its parser takes `--camelCase` for `--camel-case`.
fn dashed(name: &str) -> String {
    let mut dashed = String::with_capacity(name.len() + 4);
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            dashed.push('-');
        }
        dashed.push(letter.to_ascii_lowercase());
    }
    dashed
}
