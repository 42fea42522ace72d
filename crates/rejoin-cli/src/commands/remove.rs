use std::io::IsTerminal;
use std::time::SystemTime;

use rejoin::{ConversationView, ListFilter};

use crate::cli::{PruneArgs, RmArgs};
use crate::{ask, exit, screen, style};

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
    let here = super::here()?;
    let listing = rejoin.list(&ListFilter {
        project: super::project_here(args.all_projects)?,
        tags: args.tag.clone(),
        ..ListFilter::default()
    })?;
    let old = |used: SystemTime| used.elapsed().is_ok_and(|age| age > args.older_than);
    let views: Vec<_> = listing
        .conversations
        .iter()
        .filter(|listed| old(listed.used) && !listed.running)
        .filter(|listed| !args.keep_named || listed.summary.name.is_none())
        .map(|listed| rejoin.view(&here, &listed.id.to_string()))
        .collect::<Result<_, _>>()?;
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
    if !yes {
        if !std::io::stdin().is_terminal() || !style::on_terminal() {
            let text = format!("this would delete {what} for good; say --yes if that is meant");
            return Err(rejoin::Error::Config(text).into());
        }
        for view in &views {
            style::talk(line(view).trim_end());
        }
        if !ask::yes(&format!("delete {what} for good? (the agents' own sessions stay)")) {
            style::talk("nothing was deleted");
            return Ok(exit::CANCELLED);
        }
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

fn line(view: &ConversationView<'_>) -> String {
    let title = view.title().unwrap_or_default();
    let turns = style::plural(view.conversation().tree.turns().len(), "turn");
    format!(
        "{}  {:<44}  {turns}\n",
        view.id().short(),
        style::title(view.conversation().name.as_deref(), &title, 44)
    )
}
