use clap::CommandFactory;

use crate::cli::{Cli, CompletionsArgs, ManArgs};
use crate::{complete, exit, screen, style};

/// `rejoin completions`
pub(crate) fn completions(args: &CompletionsArgs) -> anyhow::Result<i32> {
    screen::data(&complete::script(&args.shell)?)?;
    Ok(exit::DONE)
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
