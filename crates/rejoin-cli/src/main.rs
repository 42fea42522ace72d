//! The command `rejoin`.

mod activity;
mod ask;
mod chat;
mod cli;
mod commands;
mod complete;
mod demo;
mod draft_file;
mod dry_run;
mod exit;
mod fuzzy_picker;
mod index_progress;
mod keys;
mod markdown;
mod pager;
mod panics;
mod prompt;
#[cfg(test)]
mod reference;
mod screen;
mod signals;
mod status_line;
mod style;
mod table;
mod thoughts;
mod tty;
mod turn_printer;
mod turn_words;
mod wrap;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    panics::tell_by_screen();
    // The hidden subcommands are processes of their own and start in no time: no parsing of flags.
    let mut args = std::env::args_os().skip(1);
    match args.next().as_deref().and_then(std::ffi::OsStr::to_str) {
        Some(rejoin::SUPERVISE) => return exit::code(rejoin::supervisor_main()),
        Some("__demo-agent") => return exit::code(rejoin_demo::main(args)),
        Some("__openai-agent") => return exit::code(rejoin_openai::main()),
        _ => {}
    }
    signals::outlive_file_limits();
    complete::answer_shell();
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are no errors.
            let code = if error.use_stderr() { exit::USAGE } else { exit::DONE };
            screen::usage(&cli::in_plain_words(error), style::colour());
            return exit::code(code);
        }
    };
    let begun = cli.called_in.as_deref().map_or(Ok(()), commands::go_to);
    match begun.and_then(|()| commands::dispatch(cli.command)) {
        Ok(code) => exit::code(code),
        Err(error) => {
            style::error(&error);
            exit::code(exit::of(&error))
        }
    }
}
