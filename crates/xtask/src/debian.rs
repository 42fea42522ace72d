//! Programs that tests need and that are no part of Rust: asked for from Debian's packages.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, bail};

use crate::clients::quietly;

/// The shells in which completion is tested, apart from bash, which is everywhere.
const SHELLS: [&str; 2] = ["zsh", "fish"];

/// Installs packages, which only root can; says whether it went well.
pub(crate) fn install(packages: &[&str]) -> bool {
    let apt = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
        quietly(&mut command).map_err(|error| eprintln!("   {error:#}")).is_ok()
    };
    // The lists may be good though another source of them cannot be reached.
    apt(&["update"]);
    apt(&[&["install", "--yes", "--no-install-recommends"], packages].concat())
}

/// Sees to it that the shells are there. Where they cannot be installed, their tests say that they are skipped; on CI
/// they are never left out.
pub(crate) fn shells() -> Result<()> {
    let is_there =
        |shell: &str| ["/usr/bin", "/bin"].iter().any(|dir| PathBuf::from(dir).join(shell).exists());
    let missing: Vec<&str> = SHELLS.into_iter().filter(|shell| !is_there(shell)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    eprintln!("   installing {}", missing.join(", "));
    install(&missing);
    for shell in missing.into_iter().filter(|shell| !is_there(shell)) {
        let needed = format!("completion in {shell} needs it (Debian: apt-get install {shell})");
        if env::var_os("CI").is_some() {
            bail!(needed);
        }
        eprintln!("   left out: {needed}");
    }
    Ok(())
}
