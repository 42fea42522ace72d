use rejoin::{ConversationView, Moved, Rewind};

use crate::cli::{BranchArgs, RewindArgs};
use crate::{exit, screen, style};

/// `rejoin branch`
pub(crate) fn branch(args: &BranchArgs) -> anyhow::Result<i32> {
    let rejoin = super::open()?;
    let view = super::view(&rejoin, &args.conversation)?;
    let moved = view.branch(&args.at, args.name.as_deref())?;
    tell(&view, &moved);
    Ok(exit::DONE)
}

/// `rejoin rewind`
pub(crate) fn rewind(args: &RewindArgs) -> anyhow::Result<i32> {
    let rejoin = super::open()?;
    let view = super::view(&rejoin, &args.conversation)?;
    let how = match &args.to {
        Some(message) => Rewind::To(message.clone()),
        None => Rewind::Turns(args.turns),
    };
    let moved = view.rewind(&how)?;
    tell(&view, &moved);
    Ok(exit::DONE)
}

fn tell(view: &ConversationView<'_>, moved: &Moved) {
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
