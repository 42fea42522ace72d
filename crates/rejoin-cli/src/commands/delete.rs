//! Deleting for good: what `rm` and `prune` do, of conversations and of the runs of flows.

use std::io::IsTerminal;

use clap::Args;

use crate::pager::PagerArgs;
use crate::table::width;
use crate::{ask, exit, style, tty};

/// Something that can be deleted for good.
pub(super) trait Deletable {
    /// What one of them is called.
    const NAME: &'static str;
    /// What is not deleted with it.
    const STAYS: &'static str;

    /// The id people call it by.
    fn short_id(&self) -> String;

    /// What they are, a line for each, no wider than this.
    fn lines(things: &[Self], width: usize) -> String
    where
        Self: Sized;

    /// Deletes it, unless somebody is at it.
    fn delete(self) -> anyhow::Result<()>;
}

/// How `prune` deletes.
#[derive(Args)]
pub(crate) struct PruneHow {
    /// Show what would be deleted
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) pager: PagerArgs,
}

/// Deletes what is old, or only shows it.
pub(super) fn prune<T: Deletable>(old: Vec<T>, how: &PruneHow) -> anyhow::Result<i32> {
    if old.is_empty() {
        style::talk("nothing is that old");
        return Ok(exit::DONE);
    }
    if how.dry_run {
        how.pager.print(&T::lines(&old, width()).into())?;
        return Ok(exit::DONE);
    }
    delete(old, how.yes)
}

/// Deletes things; without `yes`, a person is asked.
pub(super) fn delete<T: Deletable>(things: Vec<T>, yes: bool) -> anyhow::Result<i32> {
    if !yes && !may_delete(&things)? {
        return Ok(exit::CANCELLED);
    }
    let mut code = exit::DONE;
    for thing in things {
        let id = thing.short_id();
        match thing.delete() {
            Ok(()) => style::talk(&format!("deleted {id}")),
            // It is in use, or went on while we asked: not what was meant.
            Err(error) if exit::of(&error) == exit::BUSY => {
                style::loud(&format!("! kept {id}: {error}"));
                code = exit::BUSY;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(code)
}

/// Asks a person; who is none has to say it beforehand.
fn may_delete<T: Deletable>(things: &[T]) -> anyhow::Result<bool> {
    let what = style::plural(things.len(), T::NAME);
    if !std::io::stdin().is_terminal() || !style::on_terminal() {
        let text = format!("this would delete {what} for good; say --yes if that is meant");
        return Err(rejoin::Error::Config(text).into());
    }
    for line in T::lines(things, tty::columns()).lines() {
        style::talk(line);
    }
    let yes = ask::yes(&format!("delete {what} for good? ({})", T::STAYS));
    if !yes {
        style::talk("nothing was deleted");
    }
    Ok(yes)
}
