use clap::Args;

use crate::{exit, screen};

#[derive(Args)]
pub(crate) struct TagArgs {
    /// Id, unique prefix, name, @ (the newest here, also where a label comes first), @~1
    #[arg(default_value = "@", hide_default_value = true, allow_hyphen_values = true)]
    pub(crate) conversation: String,
    /// +label puts it on, -label takes it off; none shows them
    #[arg(allow_hyphen_values = true, value_name = "+LABEL|-LABEL")]
    pub(crate) labels: Vec<String>,
}

/// `rejoin tag`
pub(crate) fn tag(args: &TagArgs) -> anyhow::Result<i32> {
    let is_label = args.conversation.starts_with(['+', '-']);
    let (conversation, first) =
        if is_label { ("@", Some(&args.conversation)) } else { (args.conversation.as_str(), None) };
    let (mut add, mut remove) = (Vec::new(), Vec::new());
    for label in first.into_iter().chain(&args.labels) {
        match (label.strip_prefix('+'), label.strip_prefix('-')) {
            (Some(label), _) => add.push(label.to_owned()),
            (_, Some(label)) => remove.push(label.to_owned()),
            _ => {
                let text = format!("{label:?} is neither +LABEL (put it on) nor -LABEL (take it off)");
                return Err(rejoin::Error::Config(text).into());
            }
        }
    }
    let rejoin = super::open()?;
    let tags = super::view(&rejoin, conversation)?.tag(&add, &remove)?;
    screen::print(tags.into_iter().map(|tag| screen::label(&tag) + "\n").collect::<String>())?;
    Ok(exit::DONE)
}
