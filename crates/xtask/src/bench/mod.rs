//! `cargo xtask bench`: what rejoin costs, measured beside what it is compared with, in one run.

mod conversation;
mod history;
mod long;
mod measure;
mod overhead;
mod real;
mod stream;
mod table;

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{caller_env, install, loopback, workspace};

/// A measurement of the executable at that path.
type Bench = fn(&Path) -> Result<()>;

/// Every measurement, by the name it can be asked for.
const BENCHES: [(&str, Bench); 6] = [
    ("overhead", overhead::run),
    ("stream", stream::run),
    ("real", real::run),
    ("conversation", conversation::run),
    ("long", long::run),
    ("history", history::run),
];

/// Measures on less, where that is possible.
const QUICK: &str = "--quick";

/// Says that the measurements run in the namespace already.
const INSIDE: &str = "--inside";

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    match arguments.split_first() {
        Some((first, rest)) if first == INSIDE => inside(rest),
        _ => outside(arguments),
    }
}

/// Builds what is measured and goes where nothing but loopback is reachable.
fn outside(names: &[String]) -> Result<()> {
    for name in names.iter().filter(|name| *name != QUICK) {
        if !BENCHES.iter().any(|(known, _)| known == name) {
            let known: Vec<&str> = BENCHES.iter().map(|(name, _)| *name).collect();
            bail!("there is no measurement {name:?}; there are {}", known.join(", "));
        }
    }
    eprintln!("building in release mode …");
    workspace::run(workspace::cargo().args(["build", "--quiet", "--release", "--package=rejoin-cli"]))?;
    let runner = loopback::build()?;
    let agents = install::agents(&runner)?;
    let mut command = Command::new(&runner);
    command
        .arg(env::current_exe().context("this program cannot be found")?)
        .args(["bench", INSIDE])
        .args(names);
    command.env("REJOIN_TEST_AGENTS", agents);
    caller_env::remove_agent_settings(&mut command);
    workspace::run(&mut command)
}

fn inside(names: &[String]) -> Result<()> {
    let rejoin = release_binary()?;
    for (name, bench) in BENCHES {
        if names.is_empty() || names.iter().any(|wanted| wanted == name) {
            bench(&rejoin).with_context(|| format!("the measurement {name:?} failed"))?;
        }
    }
    Ok(())
}

fn release_binary() -> Result<PathBuf> {
    let binary = workspace::target().join("release/rejoin");
    if !binary.exists() {
        bail!("{} is not there", binary.display());
    }
    Ok(binary)
}
