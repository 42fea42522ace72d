//! The arguments.

use std::ffi::OsString;
use std::path::PathBuf;

/// What the caller wants.
#[derive(Debug)]
pub(crate) enum Asked {
    Help,
    Version,
    Turn(Options),
}

/// How to take a turn.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) which: Which,
    /// Where sessions are kept.
    pub(crate) store: Option<PathBuf>,
    /// Whether this turn is written there.
    pub(crate) keep: bool,
    pub(crate) model: String,
    pub(crate) permissions: Permissions,
}

/// The session of the turn.
#[derive(Debug)]
pub(crate) enum Which {
    /// A new one, under this id if one is given.
    New(Option<String>),
    Resume(String),
}

/// What the agent may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Permissions {
    Read,
    Edit,
    Full,
    Agent,
}

impl Permissions {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Edit => "edit",
            Self::Full => "full",
            Self::Agent => "agent",
        }
    }

    fn of(name: &str) -> Option<Self> {
        [Self::Read, Self::Edit, Self::Full, Self::Agent].into_iter().find(|level| level.name() == name)
    }
}

pub(crate) fn parse(mut args: impl Iterator<Item = OsString>) -> Result<Asked, String> {
    let mut new = None;
    let mut resume = None;
    let mut store = None;
    let mut keep = true;
    let mut model = "demo-1".to_owned();
    let mut permissions = Permissions::Agent;
    while let Some(arg) = args.next() {
        let (name, joined) = split(arg);
        let mut value =
            || joined.clone().or_else(|| args.next()).ok_or_else(|| format!("{name} needs a value"));
        match name.as_str() {
            "--help" | "-h" => return Ok(Asked::Help),
            "--version" | "-V" => return Ok(Asked::Version),
            "--session-id" => new = Some(text(value()?)),
            "--resume" => resume = Some(text(value()?)),
            "--store" => store = Some(PathBuf::from(value()?)),
            "--no-store" => keep = false,
            "--model" => model = text(value()?),
            "--permissions" => {
                let level = text(value()?);
                permissions = Permissions::of(&level)
                    .ok_or_else(|| format!("unknown permissions {level} (read, edit, full or agent)"))?;
            }
            _ => return Err(format!("unknown argument {name} (--help lists them)")),
        }
    }
    let which = match (new, resume) {
        (Some(_), Some(_)) => return Err("--session-id and --resume exclude each other".to_owned()),
        (new, None) => Which::New(new),
        (None, Some(id)) => Which::Resume(id),
    };
    if store.is_none() && (keep || matches!(which, Which::Resume(_))) {
        return Err("--store DIR is needed: sessions are kept there".to_owned());
    }
    Ok(Asked::Turn(Options { which, store, keep, model, permissions }))
}

/// `--name=value` is the same as `--name value`.
fn split(arg: OsString) -> (String, Option<OsString>) {
    match arg.to_str().and_then(|arg| arg.split_once('=')) {
        Some((name, value)) => (name.to_owned(), Some(value.into())),
        None => (text(arg), None),
    }
}

fn text(value: OsString) -> String {
    value.into_string().unwrap_or_else(|value| value.to_string_lossy().into_owned())
}
