//! What Gemini may do, enforced by a policy of ours.
//!
//! The approval mode alone is no limit (0.61.0): the user's settings and policies, and those of a project,
//! may allow tools in every mode. A policy given as the administrator's stands above all of them.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use rejoin_core::Permissions;

use crate::{Capabilities, Refusal};

/// A name no server has: none is started.
const NO_SERVER: &str = "--allowed-mcp-server-names=rejoin-allows-none";

/// Everything is denied but reading. Tools that ask are denied too: nobody is there.
const READ: &str = r#"# Written by rejoin for turns at the level "read".
[[rule]]
toolName = "*"
decision = "deny"
priority = 10
denyMessage = "This turn may only read."

[[rule]]
toolName = ["glob", "grep_search", "list_directory", "read_file", "read_many_files", "google_web_search", "get_internal_docs", "write_todos", "update_topic", "complete_task"]
decision = "allow"
priority = 100

[[rule]]
toolName = "invoke_agent"
argsPattern = "\"agent_name\":\\s*\"(codebase_investigator|cli_help)\""
decision = "allow"
priority = 100
"#;

/// Reading and the two tools that change files; Gemini itself keeps those inside of the project.
const EDIT: &str = r#"# Written by rejoin for turns at the level "edit".
[[rule]]
toolName = "*"
decision = "deny"
priority = 10
denyMessage = "This turn may only read and change files of the project."

[[rule]]
toolName = ["glob", "grep_search", "list_directory", "read_file", "read_many_files", "google_web_search", "web_fetch", "get_internal_docs", "write_todos", "update_topic", "complete_task", "write_file", "replace"]
decision = "allow"
priority = 100

[[rule]]
toolName = "invoke_agent"
argsPattern = "\"agent_name\":\\s*\"(codebase_investigator|cli_help)\""
decision = "allow"
priority = 100
"#;

/// Whether a policy of ours limits the run.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Limit {
    /// As the agent is configured, or none at all.
    #[default]
    None,
    /// By the policy.
    Policy,
}

impl Limit {
    /// Whether Gemini says, on its standard error, that it does not obey the policy.
    pub(super) fn is_broken_by(self, line: &str) -> bool {
        let ignored = line.contains("Ignoring --admin-policy");
        let unreadable = line.contains("[ADMIN] Policy file error");
        self == Limit::Policy && (ignored || unreadable)
    }
}

/// The arguments of a level.
#[derive(Default)]
pub(super) struct Level {
    pub(super) args: Vec<OsString>,
    /// The policy that must be there.
    pub(super) file: Option<(PathBuf, String)>,
}

impl Level {
    pub(super) fn limit(&self) -> Limit {
        if self.file.is_some() { Limit::Policy } else { Limit::None }
    }
}

/// What a level takes, or why it cannot be had.
pub(super) fn level(
    level: Permissions,
    capabilities: &Capabilities,
    own_dir: &Path,
    system: &Path,
) -> Result<Level, Refusal> {
    let (mode, policy) = match level {
        Permissions::Agent => return Ok(Level::default()),
        Permissions::Read => ("default", Some(READ)),
        Permissions::Edit => ("auto_edit", Some(EDIT)),
        Permissions::Full => ("yolo", None),
    };
    let cannot = |why: String| {
        let name = level.name();
        Refusal::Permissions(format!("{why}, so the level {name:?} cannot be enforced; choose another level"))
    };
    let needs = |flag: &str| {
        let silent = capabilities.flags.is_empty();
        let lacks = if silent { "did not tell whether it has" } else { "has no" };
        if capabilities.has(flag) { Ok(()) } else { Err(cannot(format!("this gemini {lacks} {flag}"))) }
    };
    needs("--approval-mode")?;
    let mut args = vec![format!("--approval-mode={mode}").into()];
    let Some(policy) = policy else {
        return Ok(Level { args, file: None });
    };
    needs("--admin-policy")?;
    if has_policies(&system.join("policies")) {
        let place = system.join("policies");
        return Err(cannot(format!("gemini obeys the policies in {} and none of ours", place.display())));
    }
    let file = own_dir.join(format!("{}.toml", level.name()));
    let mut flag = OsString::from("--admin-policy=");
    flag.push(&file);
    args.push(flag);
    if capabilities.has("--allowed-mcp-server-names") {
        args.push(NO_SERVER.into());
    }
    Ok(Level { args, file: Some((file, policy.to_owned())) })
}

/// With policies of an administrator, Gemini ignores those given by argument.
fn has_policies(dir: &Path) -> bool {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| entry.path().extension().is_some_and(|extension| extension == "toml"))
}
