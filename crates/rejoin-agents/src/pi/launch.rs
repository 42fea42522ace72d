//! How Pi is started.

use std::ffi::OsString;
use std::path::Path;

use rejoin_core::{Agent, Permissions};

use super::driver::PiLines;
use super::prompt::{self, Guard, NO_TEMPLATES};
use super::store::project_settings;
use crate::arguments::{level_needs, missing};
use crate::extra_args::Rules;
use crate::one_shot::OneShot;
use crate::{Process, ProcessRequest, Refusal, checks, jsonc};

pub(super) const NAME: &str = "pi";
/// All that exists for Pi at the level `read`.
const READING_TOOLS: &str = "read,grep,find,ls";

pub(super) fn process(request: &ProcessRequest<'_>, agent: Agent) -> Result<Process, Refusal> {
    let capabilities = request.capabilities;
    let session = request.turn.composed.session();
    let extra_args = long_names(request.extra_args);
    check_extra_args(&extra_args, request.turn.permissions)?;

    // Pi knows no --flag=value (0.74.2).
    let mut args: Vec<OsString> = ["--mode", "json"].map(OsString::from).to_vec();
    if request.ephemeral {
        if !capabilities.ephemeral {
            return Err(missing(NAME, "--no-session", "cannot run without storing the session"));
        }
        // Pi accepts both flags, and remembers nothing (0.74).
        request.refuse_ephemeral_resume(NAME)?;
        args.push("--no-session".into());
    }
    if let Some(session) = session {
        if !capabilities.resume {
            return Err(missing(NAME, "--session", "cannot resume a session"));
        }
        args.extend(["--session", session.as_str()].map(OsString::from));
    }
    if let Some(model) = request.turn.model {
        args.extend(["--model", checks::model(model)?].map(OsString::from));
    }
    for (flag, text) in request.instructions(NAME)? {
        args.extend([flag.into(), no_path(text)]);
    }
    permissions(request, &mut args)?;

    let guard = Guard::of(request);
    if prompt::written(request.turn.composed.prompt(), guard).no_templates {
        args.push(NO_TEMPLATES.into());
    }
    let copies = request.turn.copies(NAME)?;
    args.extend(copies.iter().map(|copy| format!("@{copy}").into()));
    // The user's arguments come last: a flag of theirs that lacks its value is refused by Pi, and
    // swallows none of ours.
    args.extend(extra_args.iter().map(OsString::from));

    let driver = OneShot::driver(agent, !request.ephemeral, PiLines::new(guard));
    Ok(Process {
        // Without it Pi installs missing packages when it starts, those a project names included (0.74.2).
        env: vec![("PI_OFFLINE".into(), "1".into())],
        copies: !copies.is_empty(),
        ..Process::new(args, driver)
    })
}

/// Instructions that are the name of a file would be replaced by what it holds.
fn no_path(text: &str) -> OsString {
    if text.contains('\n') { text.into() } else { format!("{text}\n").into() }
}

fn permissions(request: &ProcessRequest<'_>, args: &mut Vec<OsString>) -> Result<(), Refusal> {
    match request.turn.permissions {
        Permissions::Agent | Permissions::Full => Ok(()),
        Permissions::Read => {
            // --offline stands for the variable that is set for every run.
            let needed = ["--tools", "--no-extensions", "--offline"];
            level_needs(NAME, request.capabilities, Permissions::Read, &needed)?;
            // Newer ones can leave out what a project brings along, and servers of the user's.
            let leaves_out = |flag: &&str| request.capabilities.has(flag);
            args.extend(["--no-approve", "--no-mcp"].iter().filter(|flag| leaves_out(flag)).map(OsString::from));
            let settings = project_settings(request.dir);
            if !request.capabilities.has("--no-approve") && names_a_program(&settings) {
                return Err(Refusal::Permissions(format!(
                    "the level \"read\" cannot be enforced here: {} names a program (npmCommand) that pi runs, or \
                     cannot be read; have a look at it, or choose another level",
                    settings.display()
                )));
            }
            args.extend(["--tools", READING_TOOLS, "--no-extensions"].map(OsString::from));
            Ok(())
        }
        Permissions::Edit => Err(Refusal::Permissions(
            "the level \"edit\" cannot be enforced: a pi that may write files may write them anywhere, not only in \
             the project; choose read, full or agent"
                .into(),
        )),
    }
}

/// Whether settings make Pi run a program whenever it looks for the user's packages.
fn names_a_program(settings: &Path) -> bool {
    match jsonc::file(settings) {
        Some(settings) => settings.get("npmCommand").is_some(),
        None => settings.exists(),
    }
}

/// Short flags of Pi; they have one letter or more and are never put together.
const SHORT: &[(&str, &str)] = &[
    ("-a", "--approve"),
    ("-c", "--continue"),
    ("-e", "--extension"),
    ("-h", "--help"),
    ("-n", "--name"),
    ("-na", "--no-approve"),
    ("-nbt", "--no-builtin-tools"),
    ("-nc", "--no-context-files"),
    ("-ne", "--no-extensions"),
    ("-np", "--no-prompt-templates"),
    ("-ns", "--no-skills"),
    ("-nt", "--no-tools"),
    ("-p", "--print"),
    ("-r", "--resume"),
    ("-t", "--tools"),
    ("-v", "--version"),
    ("-xt", "--exclude-tools"),
];

fn long_names(args: &[String]) -> Vec<String> {
    let long =
        |arg: &String| SHORT.iter().find(|(short, _)| short == arg).map(|(_, long)| (*long).to_owned());
    args.iter().map(|arg| long(arg).unwrap_or_else(|| arg.clone())).collect()
}

/// The user's own arguments.
const RULES: Rules = Rules {
    agent: NAME,
    switches: "--no-context-files --no-extensions --no-mcp --no-prompt-templates --no-skills --no-themes --offline \
               --verbose",
    // A list to choose from.
    fine: "--models",
    permissions: "tools permission approv dangerous sandbox yolo trust allow",
    widening_read: "--extension",
    reserved: "session --continue --resume --fork --mode --print --export --list-models --help --version --cwd",
    ..Rules::NONE
};

fn check_extra_args(args: &[String], level: Permissions) -> Result<(), Refusal> {
    if let Some(file) = args.iter().find(|arg| arg.starts_with('@')) {
        return Err(Refusal::Unsupported(format!(
            "{file:?} in the arguments for pi would be read as a file to be put into the prompt; name the file in the \
             prompt instead"
        )));
    }
    RULES.check(args, level)?;
    if args.iter().any(|arg| arg == "--api-key" || arg.starts_with("--api-key=")) {
        return Err(Refusal::Unsupported(
            "--api-key is not passed on to pi: everybody on this machine could read it; set the variable of your \
             provider or use /login in pi"
                .into(),
        ));
    }
    Ok(())
}
