//! `cargo xtask test`: every check and every test.

use std::path::Path;

use anyhow::{Context, Result, bail};
use rejoin_testkit::{TABLE_VARIABLE, Table};

use crate::steps::Steps;
use crate::{attack, caller_env, install, loopback, portable, rooms, workspace};

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let filters = match arguments.split_first() {
        None => &[],
        Some((first, filters)) if first == "--" => filters,
        Some((first, _)) => bail!("unexpected {first:?}; name tests after --: cargo xtask test -- NAME"),
    };
    let all = filters.is_empty();
    let mut steps = Steps::new(if all { 8 } else { 7 });
    steps.run("format", || workspace::run(workspace::cargo().args(["fmt", "--all", "--check"])))?;
    steps.run("lints", || {
        workspace::run(workspace::cargo().args([
            "clippy",
            "--workspace",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ]))
    })?;
    steps.run("rooms: who may know whom", rooms::check)?;
    steps.run("compiles for macOS (crates without C)", portable::check)?;
    let runner = steps.run("loopback-only runner", loopback::build)?;
    let agents = steps.run("real agents", || install::agents(&runner))?;
    steps.run("tests", || {
        let triple = workspace::host_triple()?.to_uppercase().replace('-', "_");
        let mut tests = workspace::cargo();
        tests.args(["test", "--workspace", "--no-fail-fast", "--"]).args(filters);
        tests.env(format!("CARGO_TARGET_{triple}_RUNNER"), &runner).env("REJOIN_TEST_AGENTS", &agents);
        let notes = tempfile::NamedTempFile::new().context("cannot make a file for the scenario table")?;
        tests.env(TABLE_VARIABLE, notes.path());
        caller_env::remove_proxies(&mut tests);
        let ran = workspace::run(&mut tests);
        let shown = show_table(notes.path(), all);
        ran.and(shown)
    })?;
    if all {
        steps.run("a short attack (cargo xtask attack for the whole one)", attack::short)?;
    }
    steps.summary();
    Ok(())
}

/// Shows what the tests saw the real agents do. When all tests ran, nothing in it may be missing.
fn show_table(notes: &Path, all_ran: bool) -> Result<()> {
    let table = Table::read(notes).context("cannot read the scenario table")?;
    if all_ran || !table.is_empty() {
        eprintln!("\n━━ agent × scenario\n{table}");
    }
    let holes = table.holes();
    if all_ran && !holes.is_empty() {
        bail!("no test looked at {}", holes.join("; "));
    }
    Ok(())
}
