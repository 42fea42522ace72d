use std::io::IsTerminal;
use std::time::Duration;

use clap::Args;
use rejoin::{ConversationView, PruneFilter};

use crate::{ask, exit, screen, style};

#[derive(Args)]
pub(crate) struct RmArgs {
    /// Id, unique prefix, name, @ (the newest here), @~1
    #[arg(required = true)]
    pub(crate) conversations: Vec<String>,
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
}

#[derive(Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct PruneArgs {
    /// Those last used before (90d, 12w, 6h); a name or a label is no use
    #[arg(long, value_name = "TIME", value_parser = rejoin::parse_duration)]
    pub(crate) older_than: Duration,
    /// Only those with this label (repeatable: with all of them)
    #[arg(long, value_name = "LABEL")]
    pub(crate) tag: Vec<String>,
    /// Keep those that have a name
    #[arg(long)]
    pub(crate) keep_named: bool,
    /// Of all projects, not only this one
    #[arg(short = 'A', long)]
    pub(crate) all_projects: bool,
    /// Show what would be deleted
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
}

/// `rejoin rm`
pub(crate) fn rm(args: &RmArgs) -> anyhow::Result<i32> {
    let rejoin = super::open()?;
    let here = super::here()?;
    let mut views: Vec<ConversationView<'_>> = Vec::new();
    for text in &args.conversations {
        let view = rejoin.view(&here, text)?;
        if views.iter().all(|known| known.id() != view.id()) {
            views.push(view);
        }
    }
    delete(views, args.yes)
}

/// `rejoin prune`
pub(crate) fn prune(args: &PruneArgs) -> anyhow::Result<i32> {
    let rejoin = super::open()?;
    let views = rejoin.prunable(&PruneFilter {
        older_than: args.older_than,
        project: super::project_here(args.all_projects)?,
        tags: args.tag.clone(),
        keep_named: args.keep_named,
    })?;
    if views.is_empty() {
        style::talk("nothing is that old");
        return Ok(exit::DONE);
    }
    if args.dry_run {
        screen::print(views.iter().map(line).collect::<String>())?;
        return Ok(exit::DONE);
    }
    delete(views, args.yes)
}

fn delete(views: Vec<ConversationView<'_>>, yes: bool) -> anyhow::Result<i32> {
    let what = style::plural(views.len(), "conversation");
    let lines: Vec<String> = views.iter().map(line).collect();
    if !yes && !may_delete(&what, &lines, "the agents' own sessions stay")? {
        return Ok(exit::CANCELLED);
    }
    let mut code = exit::DONE;
    for view in views {
        let id = view.id().short();
        match view.remove() {
            Ok(()) => style::talk(&format!("deleted {id}")),
            // It is in use, or went on while we asked: not what was meant.
            Err(error) if error.is_busy() => {
                style::loud(&format!("! kept {id}: {error}"));
                code = exit::BUSY;
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(code)
}

/// Asks a person; who is none has to say it beforehand.
pub(crate) fn may_delete(what: &str, lines: &[String], stays: &str) -> anyhow::Result<bool> {
    if !std::io::stdin().is_terminal() || !style::on_terminal() {
        let text = format!("this would delete {what} for good; say --yes if that is meant");
        return Err(rejoin::Error::Config(text).into());
    }
    for line in lines {
        style::talk(line.trim_end());
    }
    let yes = ask::yes(&format!("delete {what} for good? ({stays})"));
    if !yes {
        style::talk("nothing was deleted");
    }
    Ok(yes)
}

fn line(view: &ConversationView<'_>) -> String {
    let title = view.title().unwrap_or_default();
    let turns = style::plural(view.conversation().tree.turns().len(), "turn");
    format!(
        "{}  {:<44}  {turns}\n",
        view.id().short(),
        style::title(view.conversation().name.as_deref(), &title, 44)
    )
}
