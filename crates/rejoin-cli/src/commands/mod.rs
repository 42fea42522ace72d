//! One file per command.

pub(crate) mod adopt;
pub(crate) mod agents;
pub(crate) mod completions;
pub(crate) mod config;
mod delete;
pub(crate) mod doctor;
pub(crate) mod edit;
pub(crate) mod exists;
pub(crate) mod export;
pub(crate) mod fallback_args;
pub(crate) mod flow;
pub(crate) mod fsck;
pub(crate) mod import;
pub(crate) mod ls;
pub(crate) mod man;
pub(crate) mod move_head;
pub(crate) mod mv;
pub(crate) mod name;
pub(crate) mod pick_conversation;
pub(crate) mod remove;
pub(crate) mod retry;
pub(crate) mod run;
pub(crate) mod search;
pub(crate) mod serve;
pub(crate) mod sessions;
pub(crate) mod show;
pub(crate) mod stats;
pub(crate) mod tag;
pub(crate) mod token;
mod tree;
pub(crate) mod turn_args;
mod turn_view;
pub(crate) mod why;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::cli::Command;
use crate::exit;

/// Runs a command and gives its exit code.
pub(crate) fn dispatch(command: Command) -> anyhow::Result<i32> {
    match command {
        Command::Run(args) => run::run(&args),
        Command::Chat(args) => crate::chat::chat(*args),
        Command::Agents(args) => agents::agents(&args),
        Command::Doctor(args) => doctor::doctor(&args),
        Command::Ls(args) => ls::ls(&args),
        Command::Sessions(args) => sessions::sessions(&args),
        Command::Adopt(args) => adopt::adopt(&args),
        Command::Show(args) => show::show(&args),
        Command::Why(args) => why::why(&args),
        Command::Branch(args) => move_head::branch(&args),
        Command::Rewind(args) => move_head::rewind(&args),
        Command::Edit(args) => edit::edit(&args),
        Command::Retry(args) => retry::retry(&args),
        Command::Name(args) => name::name(args),
        Command::Exists(args) => exists::exists(&args),
        Command::Config(args) => config::config(&args),
        Command::Tag(args) => tag::tag(&args),
        Command::Mv(args) => mv::mv(&args),
        Command::Rm(args) => remove::rm(&args),
        Command::Prune(args) => remove::prune(&args),
        Command::Export(args) => export::export(&args),
        Command::Import(args) => import::import(&args),
        Command::Fsck(args) => fsck::fsck(&args),
        Command::Flow(command) => flow::flow(command),
        Command::Completions(args) => completions::completions(&args),
        Command::Man(args) => man::man(&args),
        Command::Search(args) => search::search(&args),
        Command::Serve(args) => serve::serve(&args),
        Command::Stats(args) => stats::stats(&args),
        Command::Token(args) => token::token(&args),
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
        let bar = crate::index_progress::IndexProgress::default();
        rejoin.on_index_progress(move |progress| bar.show(progress));
    }
    Ok(rejoin)
}

/// Where the command was called, unless it is about all projects.
fn project_here(all_projects: bool) -> anyhow::Result<Option<PathBuf>> {
    if all_projects { Ok(None) } else { here().map(Some) }
}

/// Where else the conversations of a project are; what it was is told.
fn other_places(rejoin: &rejoin::Rejoin, project: Option<&Path>) -> anyhow::Result<rejoin::OtherPlaces> {
    let places = project.map(|project| rejoin.other_places(project)).transpose()?.unwrap_or_default();
    places.told().iter().for_each(|told| crate::style::talk(told));
    Ok(places)
}

/// Opens a conversation; what is wrong with its journal is told.
pub(crate) fn view<'a>(
    rejoin: &'a rejoin::Rejoin,
    conversation: &str,
) -> anyhow::Result<rejoin::ConversationView<'a>> {
    let view = rejoin.view(&here()?, conversation)?;
    told(&view);
    Ok(view)
}

/// A conversation, after what is wrong with its journal was told.
pub(crate) fn told<'a, 'b>(view: &'a rejoin::ConversationView<'b>) -> &'a rejoin::ConversationView<'b> {
    if let Some(former) = view.former_project() {
        crate::style::talk(&format!(
            "this project was {former}: its conversations come along with the next turn"
        ));
    }
    for problem in view.problems() {
        crate::style::loud(&format!("! {problem}"));
    }
    view
}

/// The directory the user stands in.
pub(crate) fn here() -> anyhow::Result<PathBuf> {
    std::env::current_dir().and_then(|dir| dir.canonicalize()).map_err(|error| {
        let text =
            format!("cannot make out the current directory ({error}); go to one that exists, or use -C DIR");
        exit::by_kind(&error, text)
    })
}

/// Does as if the command had been called in another directory.
pub(crate) fn go_to(dir: &Path) -> anyhow::Result<()> {
    std::env::set_current_dir(dir)
        .map_err(|error| exit::by_kind(&error, format!("cannot go to {}: {error}", dir.display())))
}

/// A number of things to show.
pub(crate) fn at_least_one(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "it must be a whole number of at least 1".to_owned())
}
