//! What shells offer after the Tab key: names, ids and labels of conversations, agents.

use std::collections::BTreeSet;
use std::ffi::OsString;

use clap::{Command, CommandFactory};
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use clap_complete::env::{CompleteEnv, Shells};
use rejoin::{ListFilter, ListedConversation};

use crate::cli::Cli;
use crate::{commands, style};

/// The variable that asks for candidates instead of a run; set by the scripts of `rejoin completions`.
const VARIABLE: &str = "_REJOIN_COMPLETE";

/// Answers a shell that asks for candidates; does not come back then.
pub(crate) fn answer_shell() {
    CompleteEnv::with_factory(command).var(VARIABLE).complete();
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
    Ok(String::from_utf8(script)?)
}

/// All commands, with what can be offered for their arguments.
fn command() -> Command {
    Cli::command().mut_subcommands(|command| {
        command.mut_args(|arg| match arg.get_id().as_str() {
            "conversation" | "conversations" | "resume" => arg.add(ArgValueCandidates::new(conversations)),
            "tag" => arg.add(ArgValueCandidates::new(tags)),
            "labels" => arg.add(ArgValueCandidates::new(labels)),
            "agent" => arg.add(ArgValueCandidates::new(agents)),
            _ => arg,
        })
    })
}

/// The conversations of this project, by name where they have one. Trouble offers nothing.
fn conversations() -> Vec<CompletionCandidate> {
    let list = commands::open().and_then(|rejoin| {
        let filter =
            ListFilter { project: Some(commands::here()?), limit: Some(100), ..ListFilter::default() };
        Ok(rejoin.list(&filter)?.conversations)
    });
    let candidate = |listed: &ListedConversation| {
        let name = listed.name.clone().filter(|name| can_be_typed(name)).unwrap_or_else(|| listed.id.short());
        let title = style::one_line(&listed.title, 60);
        CompletionCandidate::new(OsString::from(name)).help(Some(title.into()))
    };
    list.unwrap_or_default().iter().map(candidate).collect()
}

/// The shell shows what is offered, and puts it into its line, as it is.
fn can_be_typed(name: &str) -> bool {
    rejoin::visible_line(name) == name
}

fn tags() -> Vec<CompletionCandidate> {
    known_tags().into_iter().map(CompletionCandidate::new).collect()
}

/// To be put on; what is taken off is typed with its dash.
fn labels() -> Vec<CompletionCandidate> {
    known_tags().into_iter().map(|tag| CompletionCandidate::new(format!("+{tag}"))).collect()
}

fn known_tags() -> BTreeSet<String> {
    let tags = commands::open().and_then(|rejoin| Ok(rejoin.tags(Some(commands::here()?))?));
    tags.unwrap_or_default().into_iter().filter(|tag| can_be_typed(tag)).collect()
}

fn agents() -> Vec<CompletionCandidate> {
    rejoin::known_agents()
        .map(|(agent, title)| CompletionCandidate::new(agent.as_str()).help(Some(title.into())))
        .collect()
}
