//! The page in a real browser: `web/tests`, run by Node.js, each test with a daemon of its own.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use super::build::Stage;
use crate::clients::quietly;
use crate::{caller_env, debian, loopback, workspace};

/// Where Debian, Ubuntu, Fedora and others put it.
const CHROMIUM: [&str; 4] = [
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
    "/usr/lib/chromium/chromium",
];
const MISSING: &str = "this needs Chromium (Debian: apt-get install chromium)";
/// A test that takes longer hangs.
const LONGEST_TEST: &str = "--test-timeout=600000";

/// `cargo xtask browser [NAME]`: all tests, or those with NAME in theirs.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let runner = loopback::build()?;
    let Some(browser) = Browser::prepare(&runner)? else { bail!(MISSING) };
    match arguments {
        [] => browser.test(None),
        [name] => browser.test(Some(name)),
        _ => bail!("browser takes one part of the tests' names"),
    }
}

/// The step of `cargo xtask test`; on CI it is never left out.
pub(crate) fn check(runner: &Path) -> Result<()> {
    match Browser::prepare(runner)? {
        Some(browser) => browser.test(None),
        None if env::var_os("CI").is_some() => bail!(MISSING),
        None => {
            eprintln!("   left out: {MISSING}");
            Ok(())
        }
    }
}

/// Everything that a program of `web/tests` needs to run.
pub(super) struct Browser<'a> {
    runner: &'a Path,
    chromium: PathBuf,
    stage: Stage,
    home: TempDir,
}

impl<'a> Browser<'a> {
    /// Builds the daemon and the tests. `None` if there is no browser and none could be installed.
    pub(super) fn prepare(runner: &'a Path) -> Result<Option<Self>> {
        let Some(chromium) = found().or_else(installed) else { return Ok(None) };
        workspace::run(workspace::cargo().args(["build", "--quiet", "--package=rejoin-cli"]))?;
        let stage = Stage::new()?;
        quietly(stage.tool("vite").args(["build", "--config", "tests/vite.config.ts"]))?;
        let home =
            tempfile::Builder::new().prefix("rejoin-browser-").tempdir().context("cannot make a home")?;
        Ok(Some(Self { runner, chromium, stage, home }))
    }

    /// Node.js, with nothing of the caller's environment, where nothing but loopback can be reached.
    pub(super) fn node(&self) -> Command {
        let mut command = Command::new(self.runner);
        command.arg("node").current_dir(self.stage.web()).env_clear();
        command.env("PATH", env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.home.path()).env("TMPDIR", self.home.path());
        command.env("REJOIN_TEST_BINARY", workspace::target().join("debug/rejoin"));
        command.env("REJOIN_TEST_CHROMIUM", &self.chromium);
        // To have a failure of a property again.
        if let Some(seed) = env::var_os("REJOIN_TEST_SEED") {
            command.env("REJOIN_TEST_SEED", seed);
        }
        caller_env::remove_proxies(&mut command);
        command
    }

    /// A file that was made of one of `web/tests`.
    pub(super) fn script(&self, name: &str) -> PathBuf {
        self.stage.web().join("tests-built").join(name)
    }

    fn test(&self, name: Option<&str>) -> Result<()> {
        let mut files: Vec<PathBuf> = super::files_below(&self.script(""))?;
        files.retain(|file| file.to_string_lossy().ends_with(".test.js"));
        if files.is_empty() {
            bail!("there are no tests in web/tests");
        }
        let mut command = self.node();
        // One file after the other: some of them measure time.
        command.args(["--test", "--test-concurrency=1", "--test-reporter=spec", LONGEST_TEST]);
        command.args(name.map(|name| format!("--test-name-pattern={name}")));
        workspace::run(command.args(files.iter().map(|file| self.script("").join(file))))
    }
}

fn found() -> Option<PathBuf> {
    CHROMIUM.iter().map(PathBuf::from).find(|file| file.is_file())
}

/// Asks Debian's packages for it.
fn installed() -> Option<PathBuf> {
    eprintln!("   installing Chromium");
    debian::install(&["chromium"]).then(found).flatten()
}
