//! `cargo xtask shots`: pictures of the page for the documentation, taken of the page as it is.

use std::fs;

use anyhow::{Context, Result, bail};

use super::browser::Browser;
use crate::{loopback, workspace};

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    if let Some(argument) = arguments.first() {
        bail!("shots takes no arguments, but got {argument:?}");
    }
    let runner = loopback::build()?;
    let browser =
        Browser::prepare(&runner)?.context("this needs Chromium (Debian: apt-get install chromium)")?;
    let images = workspace::root().join("docs/images");
    fs::create_dir_all(&images).context("cannot make docs/images")?;
    workspace::run(browser.node().arg(browser.script("shots.js")).arg(&images))
}
