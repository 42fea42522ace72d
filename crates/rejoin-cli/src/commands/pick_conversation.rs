//! `-i`: pick a conversation, then read it or go on with it.

use rejoin::ConversationId;

use super::show::{self, ShowArgs};
use crate::fuzzy_picker::{Picked, pick};
use crate::{chat, exit, style};

/// Lets the person pick one of these conversations, each with its line; `show` says how it is shown.
pub(crate) fn pick_conversation(
    listed: Vec<(ConversationId, String)>,
    show: &ShowArgs,
) -> anyhow::Result<i32> {
    let (ids, lines): (Vec<_>, Vec<_>) = listed.into_iter().unzip();
    let show = ShowArgs { conversation: "@".into(), interactive: false, ..show.clone() };
    if ids.is_empty() {
        // It knows how to say that there is none.
        return show::show(&show);
    }
    match pick(&lines)? {
        None => Ok(exit::CANCELLED),
        Some(Picked::Open(at)) => {
            let rejoin = super::open()?;
            show::show_view(super::told(&rejoin.open_conversation(ids[at])?), &show)
        }
        Some(Picked::Continue(at)) => {
            style::talk(&format!("rejoin chat -r {}", ids[at].short()));
            chat::go_on(ids[at])
        }
    }
}
