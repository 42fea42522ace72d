//! Builds the page in a directory that is gone afterwards: what lies about in the clone has no say, and nothing of
//! Node.js is left in it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use tempfile::TempDir;

use super::{BUNDLE, TYPES, copy_all};
use crate::clients::{Served, quietly};
use crate::{caller_env, install, workspace};

/// What the page is built from, beside `package.json` and its lock file.
const SOURCES: [&str; 3] = ["src", "public", "tests"];

/// The page as its sources make it.
pub(super) struct Built {
    stage: Stage,
}

impl Built {
    /// Types from the OpenAPI document, checks, and the bundle.
    pub(super) fn from_sources() -> Result<Self> {
        let stage = Stage::new()?;
        workspace::run(workspace::cargo().args(["build", "--quiet", "--package=rejoin-cli"]))?;
        let served = Served::start(&workspace::target().join("debug/rejoin"))?;
        let document = served.save_document()?;
        let mut types = stage.tool("openapi-typescript");
        types.arg(&document).args(["--default-non-nullable=false", "--output"]).arg(stage.root().join(TYPES));
        quietly(&mut types)?;
        workspace::run(stage.tool("tsc").arg("--noEmit")).context("web/src")?;
        workspace::run(stage.tool("tsc").args(["--noEmit", "--project", "tests"])).context("web/tests")?;
        quietly(stage.tool("vite").arg("build"))?;
        Ok(Self { stage })
    }

    /// Where the bundle is.
    pub(super) fn bundle(&self) -> PathBuf {
        self.stage.root().join(BUNDLE)
    }

    /// The types made from the OpenAPI document.
    pub(super) fn types(&self) -> PathBuf {
        self.stage.root().join(TYPES)
    }
}

/// A copy of `web/` with its packages at hand.
pub(super) struct Stage {
    dir: TempDir,
}

impl Stage {
    pub(super) fn new() -> Result<Self> {
        let packages = packages()?;
        let dir = tempfile::Builder::new().prefix("rejoin-web-").tempdir().context("cannot make a place")?;
        let stage = Self { dir };
        let (from, to) = (workspace::root().join("web"), stage.web());
        fs::create_dir_all(&to).with_context(|| format!("cannot make {}", to.display()))?;
        for source in SOURCES.iter().filter(|source| from.join(source).exists()) {
            copy_all(&from.join(source), &to.join(source))?;
        }
        for file in ["package.json", "index.html", "tsconfig.json", "vite.config.ts"] {
            fs::copy(from.join(file), to.join(file)).with_context(|| format!("cannot copy web/{file}"))?;
        }
        symlink(packages.join("node_modules"), to.join("node_modules"))
            .context("cannot link node_modules")?;
        Ok(stage)
    }

    /// Stands for the root of the workspace.
    pub(super) fn root(&self) -> &Path {
        self.dir.path()
    }

    /// Stands for `web/`.
    pub(super) fn web(&self) -> PathBuf {
        self.root().join("web")
    }

    /// A program of the installed packages, which does nothing but what it was asked for.
    pub(super) fn tool(&self, name: &str) -> Command {
        let mut command = Command::new(self.web().join("node_modules/.bin").join(name));
        command.current_dir(self.web()).env("NODE_ENV", "production").env("CI", "true");
        caller_env::remove_agent_settings(&mut command);
        command
    }
}

/// The packages of the lock file, installed once, outside of the clone; the directory with their `node_modules`.
fn packages() -> Result<PathBuf> {
    let web = workspace::root().join("web");
    let lock = fs::read(web.join("package-lock.json")).context("cannot read web/package-lock.json")?;
    let cache = install::cache_dir()?;
    fs::create_dir_all(&cache).with_context(|| format!("cannot make the cache {}", cache.display()))?;
    let place = cache.join(format!("web-{:016x}", install::fingerprint(&lock)));
    install::once(&place, |staging| {
        for file in ["package.json", "package-lock.json"] {
            fs::copy(web.join(file), staging.join(file)).with_context(|| format!("cannot copy {file}"))?;
        }
        install::npm_ci(staging)
    })?;
    Ok(place)
}
