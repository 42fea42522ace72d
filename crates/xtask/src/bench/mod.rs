//! `cargo xtask bench`: what rejoin costs, measured beside what it is compared with, in one run.

mod against;
mod conversation;
mod history;
mod long;
mod many;
mod measure;
mod overhead;
mod real;
pub(crate) mod serve;
mod stream;
mod table;
mod terminal;

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{caller_env, install, loopback, workspace};

/// A measurement of the executable at that path.
type Bench = fn(&Path) -> Result<()>;

/// Every measurement, by the name it can be asked for.
const BENCHES: [(&str, Bench); 9] = [
    ("overhead", overhead::run),
    ("many", many::run),
    ("stream", stream::run),
    ("real", real::run),
    ("conversation", conversation::run),
    ("long", long::run),
    ("history", history::run),
    ("serve", serve::run),
    ("terminal", terminal::run),
];

/// Measures on less, where that is possible.
const QUICK: &str = "--quick";

/// Measures the turns of `overhead` beside those of another executable instead: `--against PATH`.
const AGAINST: &str = "--against";

/// Measures what packages are built with: `--dist`.
const DIST: &str = "--dist";

/// Those that run real agents, which are installed for them.
const WITH_AGENTS: [&str; 2] = ["real", "conversation"];

/// Says that the measurements run in the namespace already.
const INSIDE: &str = "--inside";

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    match arguments.split_first() {
        Some((first, rest)) if first == INSIDE => inside(rest),
        _ => outside(arguments),
    }
}

/// What was asked for on the command line.
#[derive(Default)]
struct Asked {
    names: Vec<String>,
    against: Option<PathBuf>,
}

impl Asked {
    fn parse(arguments: &[String]) -> Result<Self> {
        let mut asked = Self::default();
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                QUICK | DIST => {}
                AGAINST => {
                    let path = arguments.next().context("--against wants the path of an executable")?;
                    let found =
                        std::fs::canonicalize(path).with_context(|| format!("{path} is not there"))?;
                    asked.against = Some(found);
                }
                name if BENCHES.iter().any(|(known, _)| *known == name) => asked.names.push(name.to_owned()),
                name => {
                    let known: Vec<&str> = BENCHES.iter().map(|(name, _)| *name).collect();
                    bail!("there is no measurement {name:?}; there are {}", known.join(", "));
                }
            }
        }
        if asked.against.is_some() && asked.names != ["overhead"] {
            bail!("--against goes with one measurement: cargo xtask bench overhead --against PATH");
        }
        Ok(asked)
    }

    fn wants(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|wanted| wanted == name)
    }
}

/// Whether less is to be measured.
fn is_quick() -> bool {
    env::args().any(|argument| argument == QUICK)
}

/// The profile of what is measured.
fn profile() -> &'static str {
    if env::args().any(|argument| argument == DIST) { "dist" } else { "release" }
}

/// Builds what is measured and goes where nothing but loopback is reachable.
fn outside(arguments: &[String]) -> Result<()> {
    let asked = Asked::parse(arguments)?;
    eprintln!("building in {} mode …", profile());
    workspace::run(workspace::cargo().args([
        "build",
        "--quiet",
        "--profile",
        profile(),
        "--package=rejoin-cli",
    ]))?;
    if asked.wants("many") {
        many::build()?;
    }
    let runner = loopback::build()?;
    let mut command = Command::new(&runner);
    command
        .arg(env::current_exe().context("this program cannot be found")?)
        .args(["bench", INSIDE])
        .args(arguments);
    if WITH_AGENTS.iter().any(|name| asked.wants(name)) {
        command.env("REJOIN_TEST_AGENTS", install::agents(&runner)?);
    }
    caller_env::remove_agent_settings(&mut command);
    workspace::run(&mut command)
}

fn inside(arguments: &[String]) -> Result<()> {
    let asked = Asked::parse(arguments)?;
    let rejoin = built_binary()?;
    if let Some(other) = &asked.against {
        return against::run(&rejoin, other);
    }
    for (name, bench) in BENCHES {
        if asked.wants(name) {
            bench(&rejoin).with_context(|| format!("the measurement {name:?} failed"))?;
        }
    }
    Ok(())
}

fn built_binary() -> Result<PathBuf> {
    let binary = workspace::target().join(profile()).join("rejoin");
    if !binary.exists() {
        bail!("{} is not there", binary.display());
    }
    Ok(binary)
}
