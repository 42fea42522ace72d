//! `cargo xtask test`: every check and every test.

use anyhow::{Result, bail};

use crate::steps::Steps;
use crate::{caller_env, install, loopback, rooms, workspace};

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let filters = match arguments.split_first() {
        None => &[],
        Some((first, filters)) if first == "--" => filters,
        Some((first, _)) => bail!("unexpected {first:?}; name tests after --: cargo xtask test -- NAME"),
    };
    let mut steps = Steps::new(6);
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
    let runner = steps.run("loopback-only runner", loopback::build)?;
    let agents = steps.run("real agents", || install::agents(&runner))?;
    steps.run("tests", || {
        let triple = workspace::host_triple()?.to_uppercase().replace('-', "_");
        let mut tests = workspace::cargo();
        tests.args(["test", "--workspace", "--no-fail-fast", "--"]).args(filters);
        tests.env(format!("CARGO_TARGET_{triple}_RUNNER"), &runner).env("REJOIN_TEST_AGENTS", &agents);
        caller_env::remove_proxies(&mut tests);
        workspace::run(&mut tests)
    })?;
    steps.summary();
    Ok(())
}
