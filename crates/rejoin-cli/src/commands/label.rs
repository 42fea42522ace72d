use crate::cli::{NameArgs, TagArgs};
use crate::{exit, screen, style};

/// `rejoin name`
pub(crate) fn name(args: &NameArgs) -> anyhow::Result<i32> {
    let rejoin = super::open()?;
    let view = super::view(&rejoin, &args.conversation)?;
    view.rename(&args.name)?;
    style::talk(&format!("{} is called {:?} now", view.id().short(), args.name));
    Ok(exit::DONE)
}

/// `rejoin tag`
pub(crate) fn tag(args: &TagArgs) -> anyhow::Result<i32> {
    let (mut add, mut remove) = (Vec::new(), Vec::new());
    for label in &args.labels {
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
    let tags = super::view(&rejoin, &args.conversation)?.tag(&add, &remove)?;
    screen::print(tags.into_iter().map(|tag| screen::label(&tag) + "\n").collect::<String>())?;
    Ok(exit::DONE)
}
