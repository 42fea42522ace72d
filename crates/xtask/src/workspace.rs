//! Where the workspace is and how its cargo is called.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::caller_env;

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_owned()
}

/// Where cargo puts what it builds.
pub(crate) fn target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// The same cargo that runs us, in the root, without the caller's agent settings.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    caller_env::remove_agent_settings(&mut command);
    command
}

/// Runs a command with our own output; anything but success is an error that names it.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot run {}", shown(command)))?;
    if !status.success() {
        bail!("{} failed: {status}", shown(command));
    }
    Ok(())
}

/// Runs a command and returns its stdout; stderr is ours.
pub(crate) fn output(command: &mut Command) -> Result<Vec<u8>> {
    command.stderr(std::process::Stdio::inherit());
    let output = command.output().with_context(|| format!("cannot run {}", shown(command)))?;
    if !output.status.success() {
        bail!("{} failed: {}", shown(command), output.status);
    }
    Ok(output.stdout)
}

/// The target triple of this machine's compiler.
pub(crate) fn host_triple() -> Result<String> {
    let version = output(Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into())).arg("-vV"))?;
    let version = String::from_utf8_lossy(&version);
    let triple = version.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(triple.context("rustc -vV names no host")?.to_owned())
}

fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default();
    let words = command.get_args().map(|argument| argument.to_string_lossy().into_owned());
    std::iter::once(program.to_string_lossy().into_owned()).chain(words).collect::<Vec<_>>().join(" ")
}
