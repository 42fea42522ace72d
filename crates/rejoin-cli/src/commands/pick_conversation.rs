//! `-i`: pick a conversation, then read it or go on with it.

use rejoin::{ConversationId, ListFilter};

use super::ls;
use super::show::{self, ShowArgs};
use crate::fuzzy_picker::{Asking, Picked, pick};
use crate::{chat, exit, screen, style};

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
    let asking = Asking { help: "Enter shows · Ctrl-R continues · Esc leaves", filter: "" };
    match pick(&lines, asking)? {
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

/// Lets the person pick a conversation of this project to go on with; the filter is already typed. `None` if they left
/// without one.
pub(crate) fn pick_another(filter: &str) -> anyhow::Result<Option<ConversationId>> {
    let here = ListFilter { project: Some(super::here()?), ..ListFilter::default() };
    let (ids, lines): (Vec<_>, Vec<_>) = ls::lines(&here)?.into_iter().unzip();
    if ids.is_empty() {
        style::talk("no conversation here yet");
        return Ok(None);
    }
    if style::dumb() {
        screen::print(lines.join("\n") + "\n")?;
        style::talk("`/ls ID` goes on with one of them");
        return Ok(None);
    }
    let asking = Asking { help: "Enter goes on with it · Esc stays here", filter };
    let Some(Picked::Open(at) | Picked::Continue(at)) = pick(&lines, asking)? else { return Ok(None) };
    Ok(Some(ids[at]))
}
