use clap::Args;
use rejoin::{ConversationView, MovedHead, Rewind};

use crate::{exit, screen, style};

#[derive(Args)]
#[command(after_help = "\
A message is named by its id or the beginning of it (`rejoin show --ids`), by a turn's number as `rejoin show` prints it, by a
branch's name, or by @ (the head), @~1 (the turn before it).")]
pub(crate) struct BranchArgs {
    /// Id, unique prefix, name, @ (the newest here), @~1
    #[arg(default_value = "@", hide_default_value = true)]
    pub(crate) conversation: String,
    /// Where the next turn goes on
    #[arg(long, value_name = "MESSAGE")]
    pub(crate) at: String,
    /// Name the branch that begins there; `--at NAME` comes back to its end
    #[arg(long)]
    pub(crate) name: Option<String>,
}

#[derive(Args)]
pub(crate) struct RewindArgs {
    /// Id, unique prefix, name, @ (the newest here), @~1
    #[arg(default_value = "@", hide_default_value = true)]
    pub(crate) conversation: String,
    /// How many turns
    #[arg(default_value_t = 1, conflicts_with = "to")]
    pub(crate) turns: usize,
    /// To the end of this message's turn
    #[arg(long, value_name = "MESSAGE")]
    pub(crate) to: Option<String>,
}

/// `rejoin branch`
pub(crate) fn branch(args: &BranchArgs) -> anyhow::Result<i32> {
    let rejoin = super::open()?;
    branch_view(&super::view(&rejoin, &args.conversation)?, args)?;
    Ok(exit::DONE)
}

/// A conversation that was opened.
pub(crate) fn branch_view(view: &ConversationView<'_>, args: &BranchArgs) -> anyhow::Result<()> {
    tell(view, &view.branch(&args.at, args.name.as_deref())?);
    Ok(())
}

/// `rejoin rewind`
pub(crate) fn rewind(args: &RewindArgs) -> anyhow::Result<i32> {
    let rejoin = super::open()?;
    rewind_view(&super::view(&rejoin, &args.conversation)?, args)?;
    Ok(exit::DONE)
}

/// A conversation that was opened.
pub(crate) fn rewind_view(view: &ConversationView<'_>, args: &RewindArgs) -> anyhow::Result<()> {
    let how = match &args.to {
        Some(message) => Rewind::To(message.clone()),
        None => Rewind::Turns(args.turns),
    };
    tell(view, &view.rewind(&how)?);
    Ok(())
}

fn tell(view: &ConversationView<'_>, moved: &MovedHead) {
    let place = match moved.head {
        None => "before the first turn".to_owned(),
        Some(turn) => format!("after turn {} ({})", moved.turns, turn.short()),
    };
    let branch =
        moved.branch.as_ref().map(|name| format!(" on branch {}", screen::label(name))).unwrap_or_default();
    let id = view.id().short();
    style::talk(&format!(
        "the next turn of {id} goes on {place}{branch}; nothing is deleted, `rejoin show {id} --tree` draws all of it"
    ));
}
