//! The runner that keeps tests and real agents away from the network.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::workspace;

/// Builds `rejoin-loopback`, makes sure that it works on this machine, and returns where it is.
pub(crate) fn build() -> Result<PathBuf> {
    let messages = workspace::output(workspace::cargo().args([
        "build",
        "--quiet",
        "--package=rejoin-testkit",
        "--bin=rejoin-loopback",
        "--message-format=json-render-diagnostics",
    ]))?;
    let program = messages
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice::<Value>(line).ok())
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
        .context("cargo built rejoin-loopback but did not say where")?;
    workspace::run(Command::new(&program).args(["/bin/sh", "-c", ":"]))
        .context("tests need a network of their own (loopback only), and this machine does not grant one")?;
    Ok(program)
}
