use clap::Args;
use rejoin::ConversationView;

use crate::{exit, style};

#[derive(Args)]
pub(crate) struct NameArgs {
    /// Id, unique prefix, name, @ (the newest here), @~1
    pub(crate) conversation: String,
    /// The name, unique in the project
    pub(crate) name: String,
}

/// `rejoin name`
pub(crate) fn name(args: &NameArgs) -> anyhow::Result<i32> {
    let rejoin = super::open()?;
    name_view(&super::view(&rejoin, &args.conversation)?, args)?;
    Ok(exit::DONE)
}

/// A conversation that was opened.
pub(crate) fn name_view(view: &ConversationView<'_>, args: &NameArgs) -> anyhow::Result<()> {
    view.rename(&args.name)?;
    style::talk(&format!("{} is called {:?} now", view.id().short(), args.name));
    Ok(())
}
