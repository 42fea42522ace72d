//! What shells offer after the Tab key: names, ids and labels of conversations, messages, runs of flows, agents.

mod candidates;
mod typed_word;

use std::ffi::{OsStr, OsString};
use std::sync::OnceLock;

use clap::{Arg, Command, CommandFactory};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use clap_complete::env::{CompleteEnv, Shells};

use self::candidates::Candidate;
use self::typed_word::{for_shell, meant};
use crate::cli::Cli;
use crate::commands;

/// The variable that asks for candidates instead of a run, and names the shell; set by the scripts of
/// `rejoin completions`.
const VARIABLE: &str = "_REJOIN_COMPLETE";

/// The variable in which the script for bash gives the word that is being typed, quotes included.
const TYPED: &str = "_REJOIN_TYPED";

/// The shell that asks.
static SHELL: OnceLock<String> = OnceLock::new();

/// Answers a shell that asks for candidates; does not come back then.
pub(crate) fn answer_shell() {
    if let Ok(shell) = std::env::var(VARIABLE) {
        // The variable is gone by the time the candidates are asked for.
        let _ = SHELL.set(shell);
        // What is offered is what would be found there.
        if let Some(dir) = words_before().skip_while(|word| word != "-C").nth(1) {
            let _ = commands::go_to(dir.as_ref());
        }
    }
    CompleteEnv::with_factory(command).var(VARIABLE).complete();
}

/// The words of the line as the shell gave them: those after the `--` of its call.
fn words_before() -> impl Iterator<Item = OsString> {
    std::env::args_os().skip_while(|arg| arg != "--").skip(1)
}

/// The script a shell needs to ask us.
pub(crate) fn script(shell: &str) -> anyhow::Result<String> {
    let shells = Shells::builtins();
    let known: Vec<&str> = shells.names().collect();
    let Some(completer) = shells.completer(shell) else {
        let text = format!("no completions for the shell {shell:?}; there are {}", known.join(", "));
        return Err(rejoin::Error::Config(text).into());
    };
    let mut script = Vec::new();
    completer.write_registration(VARIABLE, "rejoin", "rejoin", "rejoin", &mut script)?;
    // bash takes the quotes away before it tells what was typed.
    let plain = format!("{VARIABLE}=\"bash\"");
    let with_quotes = format!("{TYPED}=\"${{COMP_WORDS[COMP_CWORD]}}\" {plain}");
    Ok(String::from_utf8(script)?.replace(&plain, &with_quotes))
}

/// All commands, with what can be offered for their arguments.
fn command() -> Command {
    with_candidates(Cli::command())
}

fn with_candidates(command: Command) -> Command {
    command.mut_args(with_candidates_of).mut_subcommands(with_candidates)
}

fn with_candidates_of(arg: Arg) -> Arg {
    let is_message = arg.get_value_names().is_some_and(|names| names.iter().any(|name| name == "MESSAGE"));
    let candidates: fn() -> Vec<Candidate> = match arg.get_id().as_str() {
        "conversation" | "conversations" | "resume" => candidates::conversations,
        "session" => candidates::sessions,
        "message" => candidates::messages,
        _ if is_message => candidates::messages,
        "run" | "runs" => candidates::runs,
        "tag" => candidates::tags,
        "labels" => candidates::labels,
        "agent" => candidates::agents,
        "key" => candidates::settings,
        _ => return arg,
    };
    arg.add(ArgValueCompleter::new(move |current: &OsStr| matching(&candidates(), current)))
}

/// Those that begin with what is typed, as the shell has to put them into its line.
fn matching(candidates: &[Candidate], current: &OsStr) -> Vec<CompletionCandidate> {
    let shell = SHELL.get().map(String::as_str).unwrap_or_default();
    let typed = meant(&current.to_string_lossy());
    let quote = std::env::var(TYPED).ok().and_then(|typed| typed.chars().next());
    let quote = quote.filter(|first| ['\'', '"'].contains(first));
    let fitting = candidates.iter().filter(|candidate| candidate.word.starts_with(&typed));
    let candidate = |Candidate { word, about }: &Candidate| {
        let about = Some(about.clone().into()).filter(|_| !about.is_empty());
        Some(CompletionCandidate::new(for_shell(shell, quote, word)?).help(about))
    };
    fitting.filter_map(candidate).collect()
}
