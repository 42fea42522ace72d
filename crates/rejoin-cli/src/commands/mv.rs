use std::path::PathBuf;

use clap::Args;

use crate::{exit, style};

#[derive(Args)]
pub(crate) struct MvArgs {
    /// Where the project was
    pub(crate) from: PathBuf,
    /// Where it is now
    pub(crate) to: PathBuf,
}

/// `rejoin mv`
pub(crate) fn mv(args: &MvArgs) -> anyhow::Result<i32> {
    let moved = super::open()?.move_project(&args.from, &args.to)?;
    style::talk(&format!(
        "{} moved along; their next turns run there and are told the history, because agents keep sessions by directory",
        style::plural(moved.len(), "conversation")
    ));
    Ok(exit::DONE)
}
