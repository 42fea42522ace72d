//! How Claude is started.

use std::ffi::OsString;

use rejoin_core::{Agent, Permissions};

use super::driver::ClaudeLines;
use crate::arguments::missing;
use crate::extra_args::Rules;
use crate::one_shot::OneShot;
use crate::stream_json::Limit;
use crate::{Process, ProcessRequest, Refusal};

const NAME: &str = "claude";
/// All that exists for Claude at the level `read` is three tools, and one more if somebody can answer. Claude runs
/// the hooks of a repository nobody has trusted yet: commands, at whatever level (2.1.197).
const LEVELS: &[(Permissions, &str)] = &[
    (
        Permissions::Read,
        r#"--tools=Read,Glob,Grep --strict-mcp-config --settings={"disableAllHooks":true} --permission-mode=default"#,
    ),
    EDIT,
    FULL,
];
const ASKING_LEVELS: &[(Permissions, &str)] = &[
    (
        Permissions::Read,
        r#"--tools=Read,Glob,Grep,AskUserQuestion --strict-mcp-config --settings={"disableAllHooks":true} --permission-mode=default"#,
    ),
    EDIT,
    FULL,
];
const EDIT: (Permissions, &str) = (Permissions::Edit, "--permission-mode=acceptEdits");
const FULL: (Permissions, &str) = (Permissions::Full, "--permission-mode=bypassPermissions");
/// Tools that may show up at that level: they change nothing.
const HARMLESS_TOOLS: &str = "Read Glob Grep LS NotebookRead ToolSearch StructuredOutput AskUserQuestion";

/// Not the mode in which Claude asks for nothing.
const UNASKED: Limit = Limit { modes: "bypassPermissions", ..Limit::NONE };

pub(super) fn process(request: &ProcessRequest<'_>) -> Result<Process, Refusal> {
    let capabilities = request.capabilities;
    RULES.check(request.extra_args, request.turn.permissions)?;

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
    args.extend(request.session_arg(NAME)?);
    args.extend(request.ephemeral_arg(NAME, "--no-session-persistence")?);
    args.extend(request.model_arg()?);
    for (flag, text) in request.instructions(NAME)? {
        args.push(format!("{flag}={text}").into());
    }
    args.extend(request.level_args(NAME, if asks { ASKING_LEVELS } else { LEVELS })?);
    let limit = match request.turn.permissions {
        Permissions::Read => Limit { only: Some(HARMLESS_TOOLS), ..UNASKED },
        Permissions::Edit => UNASKED,
        Permissions::Full | Permissions::Agent => Limit::default(),
    };
    if asks {
        args.extend(["--permission-prompt-tool", "stdio"].map(OsString::from));
    }

    if !chat && !request.turn.attachments.is_empty() {
        return Err(missing(NAME, "--input-format", "takes no attachments"));
    }
    let driver = OneShot::driver(Agent::Claude, !request.ephemeral, ClaudeLines::new(chat, limit));
    Ok(Process::new(args, driver))
}

/// The user's own arguments.
const RULES: Rules = Rules {
    agent: NAME,
    switches: "--ax-screen-reader --bare --brief --chrome --no-chrome --disable-slash-commands --ide \
               --exclude-dynamic-system-prompt-sections --include-hook-events --include-partial-messages \
               --replay-user-messages --safe-mode --strict-mcp-config --verbose",
    short_with_value: "dn",
    // They only take away.
    fine: "--disallowedTools --disallowed-tools",
    permissions: "permission dangerous sandbox allow --tools --setting",
    widening_read: "--add-dir --mcp-config --plugin --agent --chrome --ide --file",
    widening_edit: "--add-dir",
    reserved: "resume session continue fork --from-pr format --print --bg --background --worktree --tmux --remote \
               --teleport --rewind --help --version --cwd --init --replay -p -c -r -w -v -h",
    ..Rules::NONE
};
