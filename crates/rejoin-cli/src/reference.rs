//! docs/cli.md, made from the one definition of all commands.

use std::fmt::Write as _;

use clap::{Arg, Command, CommandFactory};

use crate::cli::Cli;

const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/cli.md");

/// Fails if the document is not what the commands say; with `UPDATE_DOCS=1` it is written.
#[test]
fn the_document_says_what_the_commands_say() {
    let made = document();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(DOCUMENT, &made).unwrap();
    }
    let stands = std::fs::read_to_string(DOCUMENT).unwrap_or_default();
    assert!(
        stands == made,
        "docs/cli.md is out of date: UPDATE_DOCS=1 cargo test -p rejoin-cli --bin rejoin"
    );
}

fn document() -> String {
    let mut cli = Cli::command();
    cli.build();
    let mut out = String::from(
        "# Commands\n\nMade from the definition of the commands; a test keeps it true. `rejoin COMMAND --help` says the same.\n",
    );
    if let Some(after) = cli.get_after_help() {
        let _ = write!(out, "\n```text\n{after}\n```\n");
    }
    for command in cli.get_subcommands().filter(|command| command.get_name() != "help") {
        section("rejoin", command, &mut out);
    }
    out
}

fn section(above: &str, command: &Command, out: &mut String) {
    let name = format!("{above} {}", command.get_name());
    let _ = write!(out, "\n## {name}\n\n");
    if let Some(about) = command.get_long_about().or_else(|| command.get_about()) {
        let _ = writeln!(out, "{about}\n");
    }
    let usage = command.clone().render_usage().to_string();
    let _ = write!(out, "```text\n{}\n```\n", usage.trim_start_matches("Usage: "));
    let arguments: Vec<&Arg> =
        command.get_arguments().filter(|arg| arg.get_id() != "help" && !arg.is_hide_set()).collect();
    if !arguments.is_empty() {
        out.push_str("\n| | |\n|---|---|\n");
    }
    for arg in arguments {
        let _ = writeln!(out, "| {} | {} |", flags(arg), words(arg));
    }
    if let Some(after) = command.get_after_help() {
        let _ = write!(out, "\n```text\n{after}\n```\n");
    }
    for command in command.get_subcommands().filter(|command| command.get_name() != "help") {
        section(&name, command, out);
    }
}

fn flags(arg: &Arg) -> String {
    let value = arg
        .get_value_names()
        .map(|names| names.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "));
    let value = value.unwrap_or_else(|| arg.get_id().to_string().to_uppercase());
    let takes_value = arg.get_action().takes_values();
    match (arg.get_short(), arg.get_long()) {
        (None, None) => format!("`{value}`"),
        (short, long) => {
            let flags: Vec<String> = short
                .map(|c| format!("-{c}"))
                .into_iter()
                .chain(long.map(|long| format!("--{long}")))
                .collect();
            let value = if takes_value { format!(" {value}") } else { String::new() };
            format!("`{}{value}`", flags.join("`, `"))
        }
    }
}

fn words(arg: &Arg) -> String {
    let help = arg.get_long_help().or_else(|| arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let mut text = help.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|");
    let values: Vec<String> = arg
        .get_possible_values()
        .iter()
        .filter(|_| arg.get_action().takes_values())
        .map(|value| match value.get_help() {
            Some(help) => format!("`{}` ({help})", value.get_name()),
            None => format!("`{}`", value.get_name()),
        })
        .collect();
    if !values.is_empty() {
        let _ = write!(text, ": {}", values.join(", "));
    }
    text
}
