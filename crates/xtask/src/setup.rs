//! `cargo xtask setup`: the real agents, ready for tests.

use anyhow::{Result, bail};

use crate::steps::Steps;
use crate::{install, loopback};

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    if let Some(argument) = arguments.first() {
        bail!("setup takes no arguments, but got {argument:?}");
    }
    let mut steps = Steps::new(2);
    let runner = steps.run("loopback-only runner", loopback::build)?;
    steps.run("real agents", || install::agents(&runner))?;
    Ok(())
}
