//! Many turns at once in one process, through the library: threads, memory, descriptors, and what is left.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use rejoin_testkit::Lab;
use serde_json::Value;

use super::measure::Cost;
use super::table::{Bound, figure, heading};
use crate::workspace;

const TURNS: &str = "200";

/// Builds the program that runs them.
pub(crate) fn build() -> Result<()> {
    workspace::run(workspace::cargo().args([
        "build",
        "--quiet",
        "--profile",
        super::profile(),
        "--package=rejoin",
        "--example=many_turns",
    ]))
}

fn program() -> PathBuf {
    workspace::target().join(super::profile()).join("examples/many_turns")
}

/// How many files a process may open at once on most systems, unless its user asks for more.
const USUAL_LIMIT: u32 = 1024;

pub(crate) fn run(rejoin: &Path) -> Result<()> {
    heading(&format!("{TURNS} turns at once in one process, on the embedded agent"));
    at_once(rejoin, None)?;
    heading(&format!("the same where {USUAL_LIMIT} files may be open: what has no room is refused"));
    at_once(rejoin, Some(USUAL_LIMIT))
}

fn at_once(rejoin: &Path, limit: Option<u32>) -> Result<()> {
    let lab = Lab::new();
    let limited = limit.map(|limit| format!("ulimit -n {limit} && exec \"$0\" \"$@\""));
    let mut command = match limited {
        None => lab.command(program()),
        Some(script) => {
            let mut shell = lab.command("/bin/sh");
            shell.args(["-c", &script]).arg(program());
            shell
        }
    };
    command.arg(rejoin).arg(TURNS).env("REJOIN_HOME", lab.root().join("rejoin"));
    let mut cost = Cost::default();
    let output = cost.add(&mut command, b"")?;
    let told: Value = serde_json::from_slice(&output.stdout).context("the program told something else")?;
    let number = |name: &str| told[name].as_f64().unwrap_or(f64::NAN);
    let all_files = limit.map(|limit| Bound::AtMost(limit.into()));
    figure("turns that were done", number("completed"), "", None);
    figure("wall", number("seconds"), "s", None);
    figure("CPU, all processes", cost.cpu().as_secs_f64(), "s", None);
    figure("threads, peak", number("threads"), "", Some(Bound::AtMost(250.0)));
    figure("resident, peak", number("resident_kib") / 1024.0, "MiB", Some(Bound::AtMost(200.0)));
    figure("descriptors, peak", number("descriptors"), "", all_files);
    figure("threads left", number("threads_left"), "", Some(Bound::AtMost(0.0)));
    figure("descriptors left", number("descriptors_left"), "", Some(Bound::AtMost(0.0)));
    figure("processes left", number("children_left"), "", Some(Bound::AtMost(0.0)));
    Ok(())
}
