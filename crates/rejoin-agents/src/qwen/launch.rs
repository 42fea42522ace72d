//! How Qwen is started.

use std::ffi::OsString;

use rejoin_core::Agent;

use super::driver::QwenLines;
use super::{NAME, level, memory};
use crate::arguments::missing;
use crate::extra_args::Rules;
use crate::one_shot::OneShot;
use crate::{Process, ProcessRequest, Refusal};

pub(super) fn process(request: &ProcessRequest<'_>) -> Result<Process, Refusal> {
    let capabilities = request.capabilities;
    RULES.check(request.extra_args, request.turn.permissions)?;

    // The user's arguments come first: what follows wins, and a list of theirs ends at a flag.
    let mut args: Vec<OsString> = request.extra_args.iter().map(OsString::from).collect();
    if !capabilities.has("--output-format") {
        return Err(missing(NAME, "--output-format", "cannot report what it does"));
    }
    args.push("--output-format=stream-json".into());
    if capabilities.has("--include-partial-messages") {
        args.push("--include-partial-messages".into());
    }
    args.extend(request.session_arg(NAME)?);
    args.extend(request.ephemeral_arg(NAME, "--chat-recording=false")?);
    args.extend(request.model_arg()?);
    for (flag, text) in request.instructions(NAME)? {
        args.push(format!("{flag}={text}").into());
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
    // Without it a wrapper takes the signals and the real process lives on (0.15.10).
    let env = vec![("QWEN_CODE_NO_RELAUNCH".to_owned(), "true".to_owned())];
    let mut process = Process { env, warnings, copies, ..Process::new(args, driver) };
    if let Some(place) = place {
        memory::forget(&mut process, place, request.env);
    }
    Ok(process)
}

/// The user's own arguments. Its parser takes --noX, --no-X and --camelCase for the same flag.
const RULES: Rules = Rules {
    agent: NAME,
    switches: "--bare --checkpointing --debug --experimental-lsp --include-partial-messages --insecure \
               --openai-logging --safe-mode --screen-reader --telemetry --telemetry-log-prompts",
    short_with_value: "me",
    permissions: "approval yolo sandbox allowed core-tools exclude-tools trust -y -s",
    widening_read: WIDENING,
    widening_edit: WIDENING,
    reserved: "resume session-id fork-session continue chat-recording format prompt json- input-file acp worktree \
               list-extensions restore channel --help --version api-key -p -i -c -r -o -l -v -h",
    spelled: dashed,
    ..Rules::NONE
};
const WIDENING: &str = "dir --mcp-config --extensions --experimental-lsp -e";

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
