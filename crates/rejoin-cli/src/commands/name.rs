use clap::Args;
use rejoin::ConversationView;

use crate::{exit, style};

#[derive(Args)]
#[command(override_usage = "rejoin name [CONVERSATION] NAME\n       rejoin name [CONVERSATION] --remove")]
pub(crate) struct NameArgs {
    /// Id, unique prefix, name, @ (the newest here), @~1
    pub(crate) conversation: Option<String>,
    /// The name, unique in the project
    #[arg(conflicts_with = "remove")]
    pub(crate) name: Option<String>,
    /// Take its name away
    #[arg(long)]
    pub(crate) remove: bool,
}

/// `rejoin name`
pub(crate) fn name(args: NameArgs) -> anyhow::Result<i32> {
    let mut args = args;
    if args.name.is_none() && !args.remove {
        // One word alone is the name, of the newest conversation.
        args.name = args.conversation.take();
    }
    let rejoin = super::open()?;
    let view = super::view(&rejoin, args.conversation.as_deref().unwrap_or("@"))?;
    name_view(&view, &args)?;
    Ok(exit::DONE)
}

/// A conversation that was opened.
pub(crate) fn name_view(view: &ConversationView<'_>, args: &NameArgs) -> anyhow::Result<()> {
    let id = view.id().short();
    style::talk(&match &args.name {
        Some(name) => {
            view.rename(name)?;
            format!("{id} is called {name:?} now")
        }
        None if args.remove => match view.remove_name()? {
            Some(name) => format!("{id} is not called {name:?} any more"),
            None => format!("{id} has no name: nothing changed"),
        },
        None => {
            let text = "no name: say how the conversation is to be called, or --remove its name";
            return Err(rejoin::Error::Config(text.into()).into());
        }
    });
    Ok(())
}
