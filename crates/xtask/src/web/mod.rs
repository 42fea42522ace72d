//! The page: built from `web/` into `crates/rejoin-server/web`, where it is committed, so that cargo never needs
//! Node.js. Both, and the types made from the OpenAPI document, are checked to belong together.

mod browser;
mod build;
mod compare;
mod shots;
mod sizes;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use self::build::Built;
use crate::workspace;

pub(crate) use self::browser::{check as check_in_browser, run as run_in_browser};
pub(crate) use self::shots::run as run_shots;

/// What is committed, and what it is built from.
const BUNDLE: &str = "crates/rejoin-server/web";
const TYPES: &str = "web/src/api/schema.d.ts";

/// `cargo xtask web`: builds the page and puts it where it is committed.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    if let Some(argument) = arguments.first() {
        bail!("web takes no arguments, but got {argument:?}");
    }
    let built = Built::from_sources()?;
    let types = workspace::root().join(TYPES);
    fs::copy(built.types(), &types).with_context(|| format!("cannot write {TYPES}"))?;
    let bundle = workspace::root().join(BUNDLE);
    if bundle.exists() {
        fs::remove_dir_all(&bundle).with_context(|| format!("cannot empty {BUNDLE}"))?;
    }
    copy_all(&built.bundle(), &bundle)?;
    sizes::check(&bundle)
}

/// The step of `cargo xtask test`: what is committed is what the sources build, and it is not too large.
pub(crate) fn check() -> Result<()> {
    let built = Built::from_sources()?;
    let mut differ = compare::files(&workspace::root().join(BUNDLE), &built.bundle())?;
    if fs::read(workspace::root().join(TYPES)).ok() != fs::read(built.types()).ok() {
        differ.push(format!("{TYPES} differs"));
    }
    if !differ.is_empty() {
        bail!("what is committed is not what web/ builds; `cargo xtask web` does: {}", differ.join(", "));
    }
    sizes::check(&built.bundle())
}

/// The files below a directory, as paths relative to it, in order.
fn files_below(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut left = vec![dir.to_owned()];
    while let Some(next) = left.pop() {
        for entry in fs::read_dir(&next).with_context(|| format!("cannot list {}", next.display()))? {
            let path = entry.with_context(|| format!("cannot list {}", next.display()))?.path();
            if path.is_dir() {
                left.push(path);
            } else {
                files.push(path.strip_prefix(dir).unwrap_or(&path).to_owned());
            }
        }
    }
    files.sort();
    Ok(files)
}

fn copy_all(from: &Path, to: &Path) -> Result<()> {
    for file in files_below(from)? {
        let target = to.join(&file);
        if let Some(dir) = target.parent() {
            fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
        }
        fs::copy(from.join(&file), &target).with_context(|| format!("cannot write {}", target.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lock_file_holds_no_download_addresses() {
        let lock = fs::read_to_string(workspace::root().join("web/package-lock.json")).unwrap();
        assert!(!lock.contains("\"resolved\"") && !lock.contains("registry"));
        assert!(lock.contains("\"integrity\""), "what is installed is pinned by its hash");
    }

    #[test]
    fn every_version_is_pinned() {
        let package = fs::read(workspace::root().join("web/package.json")).unwrap();
        let package: serde_json::Value = serde_json::from_slice(&package).unwrap();
        for kind in ["dependencies", "devDependencies"] {
            for (name, version) in package[kind].as_object().unwrap() {
                let version = version.as_str().unwrap();
                assert!(version.starts_with(|first: char| first.is_ascii_digit()), "{name} {version}");
            }
        }
    }
}
