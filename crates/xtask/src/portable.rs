//! What is written for macOS as well is at least compiled for it, where that can be done: the crates
//! without C, if the compiler has that system's standard library.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::workspace;

const TARGET: &str = "aarch64-apple-darwin";
/// All that an agent's turn needs. The index (and what builds on it) has C in it, which needs a compiler for macOS.
const CRATES: [&str; 6] =
    ["rejoin-core", "rejoin-files", "rejoin-agents", "rejoin-journal", "rejoin-engine", "rejoin-demo"];

pub(crate) fn check() -> Result<()> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let libraries =
        workspace::output(Command::new(rustc).args(["--target", TARGET, "--print", "target-libdir"]))?;
    let libraries = String::from_utf8_lossy(&libraries);
    if !Path::new(libraries.trim()).is_dir() {
        eprintln!("   skipped: no standard library for {TARGET} here; `rustup target add {TARGET}` gets it");
        return Ok(());
    }
    let mut check = workspace::cargo();
    check.args(["check", "--quiet", "--target", TARGET]);
    for name in CRATES {
        check.args(["-p", name]);
    }
    workspace::run(&mut check)
}
