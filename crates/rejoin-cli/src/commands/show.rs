use std::collections::HashMap;
use std::fmt::Write as _;

use clap::Args;
use rejoin::{
    AskedQuestion, CallNote, CallStatus, ConversationView, Decision, Kind, ListFilter, Message, Outcome,
    Part, QuestionState, ToolCall, Turn, TurnStatus,
};

use super::pick_conversation::pick_conversation;
use super::{ls, tree};
use crate::screen::{self, label};
use crate::{exit, style};

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
    /// Print JSON
    #[arg(long, conflicts_with = "raw")]
    pub(crate) json: bool,
    /// Print the journal as it stands
    #[arg(long)]
    pub(crate) raw: bool,
}

/// Longer texts are cut in `show`; the journal has them whole.
const MOST: usize = 64 << 10;

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
    let mut out = String::new();
    let conversation = view.conversation();
    let name = conversation.name.as_deref().map(|name| format!(" · {}", label(name))).unwrap_or_default();
    let tags: Vec<String> = conversation.tags.iter().map(|tag| format!(" +{}", label(tag))).collect();
    let dir =
        view.info().map(|info| format!(" · {}", label(&style::home_path(&info.dir)))).unwrap_or_default();
    let _ = writeln!(out, "conversation {}{name}{}{dir}", view.id().short(), tags.concat());
    if let Some(text) = view.not_counted()? {
        let _ = writeln!(out, "! {}", label(&text));
    }
    if args.tree {
        tree::draw(view, &mut out)?;
    } else {
        if first > 0 {
            let _ = writeln!(out, "\n({} before)", style::plural(first, "turn"));
        }
        for (at, turn) in path.iter().enumerate().skip(first) {
            paragraph(view, turn, at + 1, args.ids, &mut out)?;
        }
        if let Some(branch) = conversation.tree.current_branch().filter(|_| args.at.is_none()) {
            let _ = writeln!(out, "\non branch {}", label(branch));
        }
    }
    screen::print(out)?;
    Ok(exit::DONE)
}

/// The journal, byte for byte.
fn raw(view: &ConversationView<'_>) -> anyhow::Result<i32> {
    screen::read_on(std::io::copy(&mut view.raw()?, &mut screen::Stdout::new()))?;
    Ok(exit::DONE)
}

fn paragraph(
    view: &ConversationView<'_>,
    turn: &Turn,
    number: usize,
    ids: bool,
    out: &mut String,
) -> anyhow::Result<()> {
    let agent = label(turn.agent.as_ref().map_or("?", |agent| agent.as_str()));
    let _ = writeln!(out, "\n── turn {number} · {agent} · {} · {}", turn.id.short(), margin(view, turn));
    let messages = view.messages(turn, MOST)?;
    let calls: HashMap<String, ToolCall> =
        view.tool_calls(turn, &messages).into_iter().map(|call| (call.call.id.clone(), call)).collect();
    for message in messages {
        if message.kind == Kind::User {
            for line in message.text().lines() {
                let _ = writeln!(out, "> {line}");
            }
            for attachment in message.attachments() {
                let _ = writeln!(out, "> + {}", style::attachment(attachment));
            }
            continue;
        }
        if ids {
            let _ = writeln!(out, "[{}]", message.id.short());
        }
        parts(&message, &calls, out);
    }
    for line in unanswered(view, turn)? {
        let _ = writeln!(out, "  {line}");
    }
    Ok(())
}

/// `? asked, lost before anybody answered: Tea or coffee? (tea / coffee)`: what nobody answered, one line each.
pub(super) fn unanswered(view: &ConversationView<'_>, turn: &Turn) -> anyhow::Result<Vec<String>> {
    let line = |asked: AskedQuestion| {
        let state = match asked.state {
            QuestionState::Open => "asked, waits for an answer",
            QuestionState::Lost => "asked, lost before anybody answered",
            QuestionState::Answered(_) | QuestionState::Withdrawn => return None,
        };
        let options: Vec<String> =
            asked.question.options.iter().map(|option| style::cut(&option.label, 30)).collect();
        let options = if options.is_empty() { String::new() } else { format!(" ({})", options.join(" / ")) };
        Some(format!("? {state}: {}{options}", style::one_line(&asked.question.text, 90)))
    };
    Ok(view.questions(turn)?.into_iter().filter_map(line).collect())
}

fn parts(message: &Message, calls: &HashMap<String, ToolCall>, out: &mut String) {
    for part in &message.parts {
        match part {
            Part::Text { text, thought: false } => {
                let _ = writeln!(out, "{}", text.trim_end());
            }
            Part::Call { function_call } => {
                if let Some(ToolCall { call, inside }) = calls.get(&function_call.id) {
                    let _ = writeln!(out, "  {}", call_line(call));
                    for call in inside {
                        let _ = writeln!(out, "    {}", call_line(call));
                    }
                }
            }
            Part::Response { function_response } => {
                let output = &function_response.response;
                let mark = if output.error { "✗" } else { "↳" };
                let _ = writeln!(out, "  {mark} {}", style::one_line(&output.output, 90));
            }
            Part::Text { .. } | Part::Attachment { .. } | Part::Other(_) => {}
        }
    }
}

/// Calls that took less need no time beside them, in milliseconds.
const NOTABLE: u64 = 5000;

/// `✓ shell cargo test · 12.4 s`: what became of a call, what it was, how long it took.
fn call_line(call: &CallNote) -> String {
    let mark = match call.status {
        Some(CallStatus::Success) => "✓",
        Some(CallStatus::Error) => "✗",
        Some(CallStatus::Cancelled) => "⊘",
        None => "⚙",
    };
    let took =
        call.milliseconds.filter(|took| *took >= NOTABLE).map(|took| format!(" · {}", style::elapsed(took)));
    let cancelled = if call.status == Some(CallStatus::Cancelled) { " · cancelled" } else { "" };
    let about = style::one_line(&call.description, 90);
    let line = format!("{mark} {} {about}", style::cut(&call.name, 30));
    format!("{}{cancelled}{}", line.trim_end(), took.unwrap_or_default())
}

/// The decision and the outcome of a turn, in a few words.
pub(crate) fn margin(view: &ConversationView<'_>, turn: &Turn) -> String {
    let Some(receipt) = &turn.receipt else {
        let running = view.turn_status(turn).is_ok_and(TurnStatus::is_running);
        let state = if running { "running now" } else { "interrupted" };
        // Its receipt would have told the tokens; what was counted so far is in its messages.
        let (number, tokens) = (style::number, turn.tokens);
        let tokens = tokens.map(|it| format!(" · {} in · {} out", number(it.input), number(it.output)));
        return format!("{state}{}", tokens.unwrap_or_default());
    };
    let decision = match &receipt.plan {
        Decision::Resume { session, .. } => format!("resumed {}", label(style::short_session(session))),
        Decision::Fresh { why, .. } => format!("fresh: {}", why.name()),
    };
    let outcome = match &receipt.outcome {
        Outcome::Completed => style::elapsed(receipt.milliseconds),
        Outcome::Failed { message, .. } => format!("failed: {}", style::one_line(message, 60)),
        Outcome::Timeout { message } => format!("timeout: {}", label(message)),
        Outcome::Cancelled => "cancelled".into(),
    };
    format!("{decision} · {outcome}")
}
