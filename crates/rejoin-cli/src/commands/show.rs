use std::fmt::Write as _;

use clap::Args;
use rejoin::{ConversationView, ListFilter};

use super::pick_conversation::pick_conversation;
pub(crate) use super::turn_view::margin;
use super::turn_view::{MOST, TurnView};
use super::{ls, tree};
use crate::pager::PagerArgs;
use crate::screen::{self, Painted, Style, label};
use crate::thoughts::Thinking;
use crate::wrap::wrapped;
use crate::{exit, style, tty};

#[derive(Args, Clone, Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct ShowArgs {
    /// Id, unique prefix, name, @ (the newest here), @~1, or the agent's own session id
    #[arg(default_value = "@", hide_default_value = true)]
    pub(crate) conversation: String,
    /// Pick the conversation: type to filter, Enter shows it, Ctrl-R goes on with it
    #[arg(short, long, conflicts_with = "conversation")]
    pub(crate) interactive: bool,
    /// Draw all branches, the head marked
    #[arg(long, conflicts_with = "raw")]
    pub(crate) tree: bool,
    /// The path to this message instead of the one to the head: what another branch says
    #[arg(long, value_name = "MESSAGE", conflicts_with_all = ["tree", "raw"])]
    pub(crate) at: Option<String>,
    /// Only the last turns of the path
    #[arg(short = 'n', long, value_name = "TURNS", conflicts_with_all = ["tree", "raw"])]
    pub(crate) last: Option<usize>,
    /// Put its id before every answer and tool result, for `edit` and `--at`; a turn's own id is its prompt's
    #[arg(long, conflicts_with_all = ["tree", "raw", "json"])]
    pub(crate) ids: bool,
    /// Put the time beside every turn, message and tool call
    #[arg(long, conflicts_with_all = ["tree", "raw", "json"])]
    pub(crate) times: bool,
    /// Of messages that were edited, show what stood there before, too
    #[arg(long, conflicts_with_all = ["tree", "raw", "json"])]
    pub(crate) originals: bool,
    /// How much of the model's thinking is shown
    #[arg(long, value_enum, default_value_t = Thinking::Brief, conflicts_with_all = ["tree", "raw", "json"])]
    pub(crate) thinking: Thinking,
    /// Print answers as they came also on a terminal: headings, tables and code are not rendered
    #[arg(long, conflicts_with_all = ["raw", "json"])]
    pub(crate) plain: bool,
    #[command(flatten)]
    pub(crate) pager: PagerArgs,
    /// Print JSON
    #[arg(long, conflicts_with = "raw")]
    pub(crate) json: bool,
    /// Print the journal as it stands
    #[arg(long)]
    pub(crate) raw: bool,
}

/// `rejoin show`
pub(crate) fn show(args: &ShowArgs) -> anyhow::Result<i32> {
    if args.interactive {
        let here = ListFilter { project: Some(super::here()?), ..ListFilter::default() };
        return pick_conversation(ls::lines(&here)?, args);
    }
    let rejoin = super::open()?;
    show_view(&super::view(&rejoin, &args.conversation)?, args)
}

/// A conversation that was opened.
pub(crate) fn show_view(view: &ConversationView<'_>, args: &ShowArgs) -> anyhow::Result<i32> {
    if args.raw {
        return raw(view);
    }
    let path = match &args.at {
        _ if args.tree => view.conversation().tree.turns().iter().collect(),
        Some(message) => view.path_to(message)?,
        None => view.path(),
    };
    let first = path.len().saturating_sub(args.last.unwrap_or(usize::MAX));
    if args.json {
        screen::sorted_json(&view.shown(&path[first..], MOST)?)?;
        return Ok(exit::DONE);
    }
    let colour = style::stdout_colour();
    let mut out = Painted::default();
    let rendered = (tty::on_stdout() && !args.plain).then(tty::text_columns);
    heading(view, rendered, colour, &mut out)?;
    if args.tree {
        let mut drawn = String::new();
        tree::draw(view, &mut drawn)?;
        out.text(&tree::fitted(&drawn, rendered.unwrap_or(usize::MAX)));
    } else {
        if first > 0 {
            let _ = writeln!(out, "\n({} before)", style::plural(first, "turn"));
        }
        let looks = TurnView {
            rendered,
            colour,
            thinking: args.thinking,
            ids: args.ids,
            times: args.times,
            originals: args.originals,
        };
        for (at, turn) in path.iter().enumerate().skip(first) {
            looks.turn(view, turn, at + 1, &mut out)?;
        }
        let branch = view.conversation().tree.current_branch();
        if let Some(branch) = branch.filter(|_| args.at.is_none()) {
            let _ = writeln!(out, "\non branch {}", label(branch));
        }
    }
    args.pager.print(&out)?;
    Ok(exit::DONE)
}

/// What the conversation is, and what of it does not count.
fn heading(
    view: &ConversationView<'_>,
    width: Option<usize>,
    colour: bool,
    out: &mut Painted,
) -> anyhow::Result<()> {
    let conversation = view.conversation();
    let name = conversation.name.as_deref().map(|name| format!(" · {}", label(name))).unwrap_or_default();
    let tags: Vec<String> = conversation.tags.iter().map(|tag| format!(" +{}", label(tag))).collect();
    let dir =
        view.info().map(|info| format!(" · {}", label(&style::home_path(&info.dir)))).unwrap_or_default();
    let line = format!("conversation {}{name}{}{dir}", view.id().short(), tags.concat());
    for line in wrapped(&line, width.unwrap_or(usize::MAX)) {
        out.style(Style::BOLD.when(colour), &line);
        out.text("\n");
    }
    if let Some(text) = view.not_counted()? {
        out.style(Style::WARNING.when(colour), &format!("! {}", label(&text)));
        out.text("\n");
    }
    Ok(())
}

/// The journal, byte for byte.
fn raw(view: &ConversationView<'_>) -> anyhow::Result<i32> {
    screen::read_on(std::io::copy(&mut view.raw()?, &mut screen::Stdout::new()))?;
    Ok(exit::DONE)
}
