use std::path::PathBuf;

use clap::{Args, CommandFactory};

use crate::cli::Cli;
use crate::{exit, screen, style};

#[derive(Args)]
pub(crate) struct ManArgs {
    /// Write the pages of all commands into this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) to: Option<PathBuf>,
}

/// `rejoin man`
pub(crate) fn man(args: &ManArgs) -> anyhow::Result<i32> {
    let Some(dir) = &args.to else {
        let mut page = Vec::new();
        clap_mangen::Man::new(Cli::command()).render(&mut page)?;
        screen::data(&String::from_utf8(page)?)?;
        return Ok(exit::DONE);
    };
    std::fs::create_dir_all(dir)
        .and_then(|()| clap_mangen::generate_to(Cli::command(), dir))
        .map_err(|error| rejoin::Error::Config(format!("cannot write into {}: {error}", dir.display())))?;
    style::talk(&format!(
        "the pages are in {}; read one with `man {}/rejoin-run.1`",
        dir.display(),
        dir.display()
    ));
    Ok(exit::DONE)
}
