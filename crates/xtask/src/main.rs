//! `cargo xtask …`: set-up and chores, so that a fresh machine needs nothing but Rust, git, Node.js and Python.
//!
//! One file per command; [`COMMANDS`] is the list.

mod attack;
mod bench;
mod caller_env;
mod clients;
mod debian;
mod fuzz;
mod install;
mod loopback;
mod portable;
#[cfg(test)]
mod promises;
mod rooms;
mod setup;
mod steps;
mod test;
mod web;
mod workspace;

use std::env;
use std::process::ExitCode;

struct Command {
    name: &'static str,
    usage: &'static str,
    help: &'static str,
    run: fn(&[String]) -> anyhow::Result<()>,
}

const COMMANDS: [Command; 9] = [
    Command {
        name: "test",
        usage: "test [-- FILTER…]",
        help: "every check and every test, with real agents",
        run: test::run,
    },
    Command {
        name: "bench",
        usage: "bench [NAME…] [--quick] [--dist]",
        help: "what rejoin costs: overhead [--against PATH], many, stream, real, conversation, long, history, serve",
        run: bench::run,
    },
    Command {
        name: "fuzz",
        usage: "fuzz [SECONDS]",
        help: "feed every reader of foreign bytes for longer (60 s each)",
        run: fuzz::run,
    },
    Command {
        name: "attack",
        usage: "attack [--rounds N] [--seed S]",
        help: "kills and faults at every system call (docs/reliability.md)",
        run: attack::run,
    },
    Command {
        name: "clients",
        usage: "clients",
        help: "the daemon, held against its OpenAPI document, and clients made from it",
        run: clients::run,
    },
    Command {
        name: "web",
        usage: "web",
        help: "build the page from web/ into rejoin-server, and the types of the API for it",
        run: web::run,
    },
    Command {
        name: "browser",
        usage: "browser [NAME]",
        help: "the tests of the page in Chromium, or those with NAME in theirs",
        run: web::run_in_browser,
    },
    Command {
        name: "shots",
        usage: "shots",
        help: "take the documentation's pictures of the page",
        run: web::run_shots,
    },
    Command { name: "setup", usage: "setup", help: "install the real agents the tests use", run: setup::run },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let Some((name, rest)) = arguments.split_first().filter(|(name, _)| !is_help(name)) else {
        print!("{}", help());
        return ExitCode::SUCCESS;
    };
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        eprint!("xtask: there is no command {name:?}\n\n{}", help());
        return ExitCode::from(2);
    };
    if rest.first().is_some_and(|argument| is_help(argument)) {
        print!("{}", help());
        return ExitCode::SUCCESS;
    }
    match (command.run)(rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask {name}: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn is_help(argument: &str) -> bool {
    ["help", "-h", "--help"].contains(&argument)
}

fn help() -> String {
    use std::fmt::Write as _;

    let mut text = "Chores of the rejoin workspace.\n\nUsage: cargo xtask COMMAND\n\nCommands:\n".to_owned();
    for command in &COMMANDS {
        let _ = writeln!(text, "  {:<31} {}", command.usage, command.help);
    }
    text.push_str(
        "\nThe real agents are kept in $REJOIN_TEST_CACHE, else in rejoin-test/ under $XDG_CACHE_HOME or ~/.cache.\n",
    );
    text
}
