//! What Qwen may do: the arguments of each level, and what it must show at its start.
//!
//! Its mode `auto-edit` is no limit to the project since it writes anywhere (seen with 0.15 and
//! 0.24), and in its mode `default` a subagent gets `auto-edit`. So the level `edit` is the mode that
//! asks, with rules that allow the project's files and without what could go around them; nobody is
//! there to be asked, and the rest is declined.

use std::ffi::OsString;
use std::path::Path;

use rejoin_core::Permissions;

use super::NAME;
use crate::arguments::level_needs;
use crate::stream_json::Limit;
use crate::words::Names;
use crate::{Capabilities, Refusal};

/// All that Qwen's list of tools is cut down to at the level `read`.
const READING_TOOLS: Names = "list_directory read_file read_many_files grep_search glob";
/// What changes files.
const EDITING_TOOLS: Names = "edit write_file notebook_edit";
/// What runs commands, or others who may do more.
const RUNNING_TOOLS: Names = "run_shell_command monitor agent task send_message skill tool_call enter_worktree \
                              exit_worktree cron_create loop_wakeup";
/// What is refused at the level `read`.
const CHANGING_TOOLS: Names = "edit write_file notebook_edit run_shell_command monitor agent task send_message skill \
                               tool_call enter_worktree exit_worktree cron_create cron_delete loop_wakeup \
                               save_memory update_goal record_artifact web_fetch";
/// The name of no server.
const NO_SERVER: &str = "--allowed-mcp-server-names=none-while-limited-by-rejoin";
/// Up to this version, `auto-edit` ended at the border of the project and there were no rules.
const LAST_WITH_A_BORDER: (u64, u64) = (0, 12);
/// Signs that mean something in a rule.
const PATTERN_SIGNS: &[char] = &['*', '?', '[', ']', '{', '}', '(', ')', '!', '+', '@', '|', '\\'];

/// Not the modes in which Qwen, or a model of its own, decides that anything may run.
const UNASKED: Limit = Limit { modes: "yolo auto", ..Limit::NONE };

/// Adds the arguments of a level; gives back what Qwen must show, and a warning.
pub(super) fn permissions(
    level: Permissions,
    capabilities: &Capabilities,
    dir: &Path,
    args: &mut Vec<OsString>,
) -> Result<(Limit, Option<String>), Refusal> {
    let needs = |flags: &[&str]| level_needs(NAME, capabilities, level, flags);
    let mut each = |flag: &str, tools: Names| {
        args.extend(tools.split(' ').map(|tool| OsString::from(format!("{flag}={tool}"))));
    };
    match level {
        Permissions::Agent => Ok((Limit::default(), None)),
        Permissions::Read => {
            needs(&["--approval-mode", "--core-tools", "--exclude-tools", "--allowed-mcp-server-names"])?;
            each("--core-tools", READING_TOOLS);
            // Settings may add to the first list, but nothing outweighs this one.
            each("--exclude-tools", CHANGING_TOOLS);
            args.extend([NO_SERVER, "--approval-mode=default"].map(OsString::from));
            Ok((Limit { without: CHANGING_TOOLS, ..UNASKED }, None))
        }
        Permissions::Edit => {
            needs(&["--approval-mode", "--exclude-tools", "--allowed-tools"])?;
            each("--exclude-tools", RUNNING_TOOLS);
            if ends_at_the_border(capabilities) {
                args.push("--approval-mode=auto-edit".into());
            } else {
                if dir.to_string_lossy().contains(PATTERN_SIGNS) {
                    return Err(Refusal::Permissions(format!(
                        "qwen cannot be kept to {}: its rules read the signs {} in a path as a pattern; choose another level",
                        dir.display(),
                        PATTERN_SIGNS.iter().collect::<String>()
                    )));
                }
                args.extend(
                    EDITING_TOOLS.split(' ').map(|tool| format!("--allowed-tools={tool}(/**)").into()),
                );
                args.push("--approval-mode=default".into());
            }
            let settings = dir.join(".qwen").join("settings.json");
            let warning = settings
                .exists()
                .then(|| format!("{} may allow qwen more than the level \"edit\"", settings.display()));
            Ok((Limit { without: RUNNING_TOOLS, ..UNASKED }, warning))
        }
        Permissions::Full => {
            needs(&["--approval-mode"])?;
            args.push("--approval-mode=yolo".into());
            Ok((Limit::default(), None))
        }
    }
}

fn ends_at_the_border(capabilities: &Capabilities) -> bool {
    let version = capabilities.version.as_deref().unwrap_or_default();
    let mut numbers = version.split('.').map(|number| number.parse::<u64>().ok());
    match (numbers.next().flatten(), numbers.next().flatten()) {
        (Some(major), Some(minor)) => (major, minor) <= LAST_WITH_A_BORDER,
        _ => false,
    }
}
