//! The real agents, installed once from `tests/agents` into a cache outside the clone.

use std::collections::HashSet;
use std::env;
use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rejoin_testkit::run_to_end;
use serde_json::Value;

use crate::workspace;

/// Says that everything before it was done; written last, before the directory gets its name.
const STAMP: &str = ".complete";

struct Agent {
    package: &'static str,
    command: &'static str,
    /// The install script that puts its program in place.
    finished_by: Option<&'static str>,
}

const AGENTS: [Agent; 6] = [
    Agent { package: "@anthropic-ai/claude-code", command: "claude", finished_by: Some("install.cjs") },
    Agent { package: "@openai/codex", command: "codex", finished_by: None },
    Agent { package: "@google/gemini-cli", command: "gemini", finished_by: None },
    Agent { package: "opencode-ai", command: "opencode", finished_by: Some("postinstall.mjs") },
    Agent { package: "@earendil-works/pi-coding-agent", command: "pi", finished_by: None },
    Agent { package: "@qwen-code/qwen-code", command: "qwen", finished_by: None },
];
/// Some start a JavaScript engine and megabytes of code to tell their version; on a busy machine that takes long.
const LONGEST_CHECK: Duration = Duration::from_mins(3);

/// Makes sure that the pinned agents are installed and work; returns the directory with their commands.
pub(crate) fn agents(loopback: &Path) -> Result<PathBuf> {
    let pinned = workspace::root().join("tests/agents");
    let lock_file = fs::read(pinned.join("package-lock.json"))
        .with_context(|| format!("cannot read package-lock.json in {}", pinned.display()))?;
    let cache = cache_dir()?;
    fs::create_dir_all(&cache).with_context(|| format!("cannot make the cache {}", cache.display()))?;
    let place = cache.join(format!("agents-{:016x}", fingerprint(&lock_file)));
    let bin = place.join("node_modules/.bin");
    let just_checked =
        if place.join(STAMP).exists() { None } else { install_once(&pinned, &place, loopback)? };
    let versions = match just_checked {
        Some(versions) => versions,
        None => checked_versions(&pinned, &bin, loopback)
            .with_context(|| format!("delete {} and try again", place.display()))?,
    };
    eprintln!("   {}", versions.join(", "));
    eprintln!("   in {}", place.display());
    Ok(bin)
}

/// Where what is installed for tests is kept.
pub(crate) fn cache_dir() -> Result<PathBuf> {
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
pub(crate) fn fingerprint(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

/// Installs the agents; returns their versions, or `None` if another call was first.
fn install_once(pinned: &Path, place: &Path, loopback: &Path) -> Result<Option<Vec<String>>> {
    once(place, |staging| {
        for file in ["package.json", "package-lock.json"] {
            fs::copy(pinned.join(file), staging.join(file)).with_context(|| format!("cannot copy {file}"))?;
        }
        npm_ci(staging)?;
        for agent in &AGENTS {
            finish_by_hand(agent, staging, loopback)?;
        }
        checked_versions(pinned, &staging.join("node_modules/.bin"), loopback)
    })
}

/// Installs into a directory beside the place and renames it, under a lock: several calls at once install once,
/// and a killed one leaves nothing that looks installed. `None` if it was installed already.
pub(crate) fn once<T>(place: &Path, install: impl FnOnce(&Path) -> Result<T>) -> Result<Option<T>> {
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
        return Ok(None);
    }
    let staging = place.with_extension("new");
    for left_over in [&staging, place] {
        if left_over.exists() {
            fs::remove_dir_all(left_over)
                .with_context(|| format!("cannot remove {}", left_over.display()))?;
        }
    }
    fs::create_dir_all(&staging).with_context(|| format!("cannot make {}", staging.display()))?;
    let begun = Instant::now();
    let installed = install(&staging)?;
    let megabytes = size_of(&staging)? / 1_000_000;
    eprintln!("   installed in {} s, {megabytes} MB", begun.elapsed().as_secs());
    fs::write(staging.join(STAMP), "").context("cannot write the stamp of the installation")?;
    fs::rename(&staging, place).with_context(|| format!("cannot put it at {}", place.display()))?;
    Ok(Some(installed))
}

/// Without install scripts: npm versions differ in whether they run them, and what they do is done below.
pub(crate) fn npm_ci(dir: &Path) -> Result<()> {
    let mut npm = Command::new("npm");
    npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]).current_dir(dir);
    workspace::run(&mut npm).context("installing from npm needs Node.js (20 or newer) with npm")
}

/// Runs the install script of an agent that needs one; without the network it can only use what npm brought.
fn finish_by_hand(agent: &Agent, dir: &Path, loopback: &Path) -> Result<()> {
    let Some(script) = agent.finished_by else { return Ok(()) };
    let package = dir.join("node_modules").join(agent.package);
    let mut command = Command::new(loopback);
    command.args(["node", script]).current_dir(&package);
    run_apart(agent, command).with_context(|| format!("{script} of {} failed", agent.package)).map(drop)
}

/// Name and version of every installed agent, if all are the pinned ones. They are asked at the same time.
fn checked_versions(pinned: &Path, bin: &Path, loopback: &Path) -> Result<Vec<String>> {
    let package = fs::read(pinned.join("package.json")).context("cannot read tests/agents/package.json")?;
    let package: Value = serde_json::from_slice(&package).context("tests/agents/package.json is not JSON")?;
    let check = |agent: &Agent| -> Result<String> {
        let wanted = package["dependencies"][agent.package]
            .as_str()
            .with_context(|| format!("tests/agents/package.json does not pin {}", agent.package))?;
        let mut command = Command::new(loopback);
        command.arg(bin.join(agent.command)).arg("--version");
        let told = run_apart(agent, command)?;
        if !told.split_whitespace().any(|word| word == wanted) {
            bail!("{} is {told:?}, but tests/agents/package.json pins {wanted}", agent.command);
        }
        Ok(format!("{} {wanted}", agent.command))
    };
    thread::scope(|scope| {
        let asked: Vec<_> = AGENTS.iter().map(|agent| scope.spawn(|| check(agent))).collect();
        let told = asked.into_iter().map(|one| one.join().unwrap_or_else(|_| bail!("a check broke off")));
        told.collect()
    })
}

/// Runs a command of an agent with a home that is gone afterwards and nothing of the caller's environment, and
/// returns all it said: Pi tells its version on stderr.
fn run_apart(agent: &Agent, mut command: Command) -> Result<String> {
    let home = tempfile::Builder::new().prefix("rejoin-xtask-").tempdir().context("cannot make a home")?;
    command.env_clear().env("PATH", search_path()?).env("DISABLE_AUTOUPDATER", "1");
    command.env("HOME", home.path()).env("TMPDIR", home.path());
    let told = run_to_end(&mut command, b"", LONGEST_CHECK)
        .with_context(|| format!("cannot run {}", agent.command))?;
    if told.timed_out {
        bail!("{} was not done after {} s", agent.command, LONGEST_CHECK.as_secs());
    }
    if !told.status.success() {
        bail!("{} failed ({}): {}", agent.command, told.status, told.stderr.trim());
    }
    Ok(format!("{} {}", told.stdout, told.stderr).trim().to_owned())
}

/// What a directory takes on disk; a file with two names counts once.
fn size_of(dir: &Path) -> Result<u64> {
    let mut seen = HashSet::new();
    let mut left = vec![dir.to_owned()];
    let mut bytes = 0;
    while let Some(dir) = left.pop() {
        for entry in fs::read_dir(&dir).with_context(|| format!("cannot read {}", dir.display()))? {
            let entry = entry.with_context(|| format!("cannot read {}", dir.display()))?;
            let about =
                entry.metadata().with_context(|| format!("cannot read {}", entry.path().display()))?;
            if about.is_dir() {
                left.push(entry.path());
            } else if seen.insert((about.dev(), about.ino())) {
                bytes += about.blocks() * 512;
            }
        }
    }
    Ok(bytes)
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
        assert!(!text.contains("registry"));
        for agent in &AGENTS {
            assert!(text.contains(agent.package));
        }
    }

    /// Registries may lack packages for other systems; those are pinned by their version alone.
    #[test]
    fn what_is_installed_on_linux_is_pinned_by_its_hash() {
        let lock = fs::read(workspace::root().join("tests/agents/package-lock.json")).unwrap();
        let lock: Value = serde_json::from_slice(&lock).unwrap();
        for (name, package) in
            lock["packages"].as_object().unwrap().iter().filter(|(name, _)| !name.is_empty())
        {
            let made_for = |key: &str, value: &str| {
                package[key].as_array().is_none_or(|list| list.iter().any(|one| one == value))
            };
            let here = made_for("os", "linux") && made_for("cpu", "x64") && made_for("libc", "glibc");
            assert!(!here || package["integrity"].is_string(), "{name}");
        }
    }
}
