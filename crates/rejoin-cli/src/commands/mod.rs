//! One file per command.

mod agents;
mod doctor;
mod ls;
mod run;
mod search;
mod show;
mod stats;

use anyhow::Context;

use crate::cli::Command;

/// Runs a command and gives its exit code.
pub(crate) fn dispatch(command: Command) -> anyhow::Result<i32> {
    match command {
        Command::Run(args) => run::run(&args),
        Command::Agents(args) => agents::agents(&args),
        Command::Doctor(args) => doctor::doctor(&args),
        Command::Ls(args) => ls::ls(&args),
        Command::Show(args) => show::show(&args),
        Command::Search(args) => search::search(&args),
        Command::Stats(args) => stats::stats(&args),
        Command::Demo(args) => crate::demo::demo(&args),
    }
}

/// rejoin with this very executable as supervisor.
pub(crate) fn open() -> anyhow::Result<rejoin::Rejoin> {
    let itself = std::env::current_exe().context("cannot find out where this executable is")?;
    Ok(rejoin::Rejoin::open_supervised(rejoin::Helper::Executable(itself))?)
}

/// The same, for commands that ask the index: on a terminal, they show how far it is.
fn open_indexed() -> anyhow::Result<rejoin::Rejoin> {
    let mut rejoin = open()?;
    if crate::style::on_terminal() {
        let bar = crate::progress::Bar::default();
        rejoin.on_index_progress(move |progress| bar.show(progress));
    }
    Ok(rejoin)
}

/// Where the command was called, unless it is about all projects.
fn here(all_projects: bool) -> anyhow::Result<Option<std::path::PathBuf>> {
    let here = std::env::current_dir()?.canonicalize()?;
    Ok((!all_projects).then_some(here))
}

/// Prints data. Somebody who closed the pipe has seen enough.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    use std::io::Write;
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}
