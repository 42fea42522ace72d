//! One file per command.

mod agents;
mod doctor;
mod ls;
mod run;
mod show;

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
        Command::Demo(args) => crate::demo::demo(&args),
    }
}

/// rejoin with this very executable as supervisor.
pub(crate) fn open() -> anyhow::Result<rejoin::Rejoin> {
    let itself = std::env::current_exe().context("cannot find out where this executable is")?;
    Ok(rejoin::Rejoin::open_supervised(rejoin::Helper::Executable(itself))?)
}

/// Prints data. Somebody who closed the pipe has seen enough.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    use std::io::Write;
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}
