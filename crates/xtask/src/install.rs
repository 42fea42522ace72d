//! The real agents, installed once from `tests/agents` into a cache outside the clone.

use std::env;
use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::workspace;

/// Says that everything before it was done; written last, before the directory gets its name.
const STAMP: &str = ".complete";

struct Agent {
    package: &'static str,
    command: &'static str,
}

const AGENTS: [Agent; 2] = [
    Agent { package: "@anthropic-ai/claude-code", command: "claude" },
    Agent { package: "@openai/codex", command: "codex" },
];

/// Makes sure that the pinned agents are installed and work; returns the directory with their commands.
pub(crate) fn agents(loopback: &Path) -> Result<PathBuf> {
    let pinned = workspace::root().join("tests/agents");
    let lock_file = fs::read(pinned.join("package-lock.json"))
        .with_context(|| format!("cannot read package-lock.json in {}", pinned.display()))?;
    let cache = cache_dir()?;
    fs::create_dir_all(&cache).with_context(|| format!("cannot make the cache {}", cache.display()))?;
    let place = cache.join(format!("agents-{:016x}", fingerprint(&lock_file)));
    if !place.join(STAMP).exists() {
        install_once(&pinned, &place, loopback)?;
    }
    let bin = place.join("node_modules/.bin");
    for agent in &AGENTS {
        let version = checked_version(agent, &pinned, &bin, loopback)
            .with_context(|| format!("delete {} and try again", place.display()))?;
        eprintln!("   {}: {version}", agent.command);
    }
    eprintln!("   in {}", place.display());
    Ok(bin)
}

fn cache_dir() -> Result<PathBuf> {
    let named = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(dir) = named("REJOIN_TEST_CACHE") {
        return std::path::absolute(&dir).with_context(|| format!("REJOIN_TEST_CACHE is {}", dir.display()));
    }
    named("XDG_CACHE_HOME")
        .filter(|dir| dir.is_absolute())
        .or_else(|| Some(named("HOME")?.join(".cache")))
        .map(|dir| dir.join("rejoin-test"))
        .context("there is no place for the real agents: set REJOIN_TEST_CACHE to a directory")
}

/// FNV-1a: the same on every machine and toolchain, and all that telling two lock files apart needs.
fn fingerprint(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

/// Installs into a directory beside the place and renames it, under a lock: several calls at once install once,
/// and a killed one leaves nothing that looks installed.
fn install_once(pinned: &Path, place: &Path, loopback: &Path) -> Result<()> {
    let lock_path = place.with_extension("lock");
    let lock = File::create(&lock_path).with_context(|| format!("cannot make {}", lock_path.display()))?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            eprintln!("   waiting for another installation ({})", lock_path.display());
            lock.lock().with_context(|| format!("cannot lock {}", lock_path.display()))?;
        }
        Err(TryLockError::Error(error)) => {
            return Err(error).with_context(|| format!("cannot lock {}", lock_path.display()));
        }
    }
    if place.join(STAMP).exists() {
        return Ok(());
    }
    let staging = place.with_extension("new");
    for left_over in [&staging, place] {
        if left_over.exists() {
            fs::remove_dir_all(left_over)
                .with_context(|| format!("cannot remove {}", left_over.display()))?;
        }
    }
    fs::create_dir_all(&staging).with_context(|| format!("cannot make {}", staging.display()))?;
    for file in ["package.json", "package-lock.json"] {
        fs::copy(pinned.join(file), staging.join(file)).with_context(|| format!("cannot copy {file}"))?;
    }
    npm_ci(&staging)?;
    let bin = staging.join("node_modules/.bin");
    for agent in &AGENTS {
        if version(agent, &bin, loopback).is_err() {
            finish_by_hand(agent, &staging)?;
        }
        checked_version(agent, pinned, &bin, loopback)?;
    }
    fs::write(staging.join(STAMP), "").context("cannot write the stamp of the installation")?;
    fs::rename(&staging, place).with_context(|| format!("cannot put the agents at {}", place.display()))
}

/// Without install scripts: npm versions differ in whether they run them, and what they do is done below.
fn npm_ci(dir: &Path) -> Result<()> {
    let mut npm = Command::new("npm");
    npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]).current_dir(dir);
    workspace::run(&mut npm).context("installing the real agents needs Node.js (20 or newer) with npm")
}

/// Claude Code's package puts its program in place by an install script of its own.
fn finish_by_hand(agent: &Agent, dir: &Path) -> Result<()> {
    let package = dir.join("node_modules").join(agent.package);
    if package.join("install.cjs").exists() {
        workspace::run(Command::new("node").arg("install.cjs").current_dir(&package))?;
    }
    Ok(())
}

/// The version the installed agent tells, if it is the pinned one.
fn checked_version(agent: &Agent, pinned: &Path, bin: &Path, loopback: &Path) -> Result<String> {
    let package = fs::read(pinned.join("package.json")).context("cannot read tests/agents/package.json")?;
    let package: Value = serde_json::from_slice(&package).context("tests/agents/package.json is not JSON")?;
    let wanted = package["dependencies"][agent.package]
        .as_str()
        .with_context(|| format!("tests/agents/package.json does not pin {}", agent.package))?;
    let told = version(agent, bin, loopback)?;
    if !told.split_whitespace().any(|word| word == wanted) {
        bail!("{} is {told:?}, but tests/agents/package.json pins {wanted}", agent.command);
    }
    Ok(told)
}

/// Asks a real agent for its version: no network, nothing of the caller's environment.
fn version(agent: &Agent, bin: &Path, loopback: &Path) -> Result<String> {
    let home = env::temp_dir().join(format!("rejoin-xtask-{}", std::process::id()));
    fs::create_dir_all(&home).with_context(|| format!("cannot make {}", home.display()))?;
    let mut command = Command::new(loopback);
    command.arg(bin.join(agent.command)).arg("--version");
    command.env_clear().env("HOME", &home).env("PATH", search_path()?).env("DISABLE_AUTOUPDATER", "1");
    let told = command.output().with_context(|| format!("cannot run {}", agent.command));
    fs::remove_dir_all(&home).with_context(|| format!("cannot remove {}", home.display()))?;
    let told = told?;
    if !told.status.success() {
        let talk = String::from_utf8_lossy(&told.stderr);
        bail!("{} --version failed ({}): {}", agent.command, told.status, talk.trim());
    }
    Ok(String::from_utf8_lossy(&told.stdout).trim().to_owned())
}

fn search_path() -> Result<OsString> {
    let caller = env::var_os("PATH").unwrap_or_default();
    let node = env::split_paths(&caller).find(|dir| dir.join("node").is_file());
    let dirs = node.into_iter().chain(["/usr/bin".into(), "/bin".into()]);
    env::join_paths(dirs).context("a directory on PATH has a colon in its name")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_lock_file_gives_another_place() {
        assert_eq!(fingerprint(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fingerprint(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_ne!(fingerprint(b"ab"), fingerprint(b"ba"));
    }

    #[test]
    fn the_lock_file_holds_no_download_addresses() {
        let lock = workspace::root().join("tests/agents/package-lock.json");
        let text = fs::read_to_string(lock).unwrap();
        assert!(!text.contains("\"resolved\""));
        for agent in &AGENTS {
            assert!(text.contains(agent.package));
        }
    }
}
