//! `rejoin chat`: a live conversation at the terminal. Every turn is the same call as that of `rejoin run`.

mod answer_elsewhere;
mod clipboard;
mod complete;
mod cost;
mod editor;
mod elsewhere;
mod file_mentions;
mod help;
mod last_turns;
mod live;
mod notify;
mod path_words;
mod question_menu;
mod run_slash_command;
mod shell_command;
mod slash_commands;
mod tool_calls;
mod turns_elsewhere;

pub(crate) use tool_calls::ToolCallLines;

use complete::ChatCompleter;
use editor::{Asked, Editor};
use live::Live;
use rejoin::{ChatConversation, ChatStart, ConversationId};
use slash_commands::Typed;

use crate::commands::run::RunArgs;
use crate::commands::turn_args::{Look, Output, TurnArgs};
use crate::commands::{here, open};
use crate::{exit, prompt, signals, style, tty};

/// What `rejoin chat --help` ends with.
pub(crate) const HELP: &str = "\
Examples:
  rejoin chat                       a new conversation with the configured agent
  rejoin chat -c                    go on with the newest one here; its last turns are shown
  rejoin chat -s release -a codex   a conversation by name, begun if there is none
  rejoin chat -c \"now fix it\"       with a first prompt

At the prompt, /help lists what can be done besides talking: /new, /ls, /agent, /model,
/permissions, /attach, /fresh, /branch, /tree, /rewind, /edit, /retry, /answer, /why, /show, /cost,
/copy, /export, /name. !command runs a command of the shell, !!command tells the agent what it printed;
@file sends a file along. Alt-Enter, or a backslash before Enter, begins another line, Ctrl-X
Ctrl-E opens your editor; pasted text is kept whole; Tab completes. Ctrl-C stops the turn, Ctrl-D
leaves. Every turn is what `rejoin run` would have done.";

/// `rejoin chat`
pub(crate) fn chat(mut args: RunArgs) -> anyhow::Result<i32> {
    refuse(&args)?;
    let first = match (args.prompt.take(), std::mem::take(&mut args.file)) {
        (None, files) if files.is_empty() => None,
        (argument, files) => Some(prompt::gather(argument.as_deref(), &files)?),
    };
    let conversation = match (args.resume, args.name) {
        (Some(reference), _) => ChatConversation::Reference(reference),
        (None, Some(name)) => ChatConversation::Named(name),
        (None, None) if args.continue_latest => ChatConversation::Latest,
        (None, None) => ChatConversation::New,
    };
    let (checkpoint, scope) = (args.checkpoint.map(Into::into), args.scope.map(Into::into));
    let look = args.how.look;
    talk(ChatStart { conversation, checkpoint, scope, options: args.how.options() }, look, first)
}

/// The same on a conversation that was found already.
pub(crate) fn go_on(conversation: ConversationId) -> anyhow::Result<i32> {
    let conversation = ChatConversation::Id(conversation);
    talk(ChatStart { conversation, ..ChatStart::default() }, Look::default(), None)
}

/// Talks until the person leaves, with a first prompt or without.
fn talk(start: ChatStart, look: Look, mut first: Option<String>) -> anyhow::Result<i32> {
    let rejoin = open()?;
    tty::keep()?;
    signals::watch()?;
    let here = here()?;
    let mut live = Live::begin(&rejoin, start, look)?;
    // What was said is remembered from the first time on.
    rejoin.make_home()?;
    let mut editor = Editor::open(ChatCompleter::new(&rejoin, &here), rejoin.home().join("chat_history"))?;
    live.greet()?;
    let (mut initial, mut interrupts) = (String::new(), 0);
    while !signals::leaving() {
        let typed = if let Some(first) = first.take() {
            first
        } else {
            match live.ask(&mut editor, &std::mem::take(&mut initial))? {
                Asked::Line(typed) => typed.trim_end_matches('\n').to_owned(),
                Asked::Ended => break,
                Asked::Interrupted => {
                    interrupts += 1;
                    if interrupts > 1 {
                        style::talk("Ctrl-D or /quit leaves; the conversation is kept");
                    }
                    continue;
                }
            }
        };
        let done = match slash_commands::read(&typed) {
            Typed::Nothing => live.answer_if_asked(),
            Typed::Command("quit", _) => break,
            Typed::Prompt(words) => {
                editor.remember(&typed);
                let said = live.say(words);
                if !live.last().begun {
                    // Refused: it can be said again, or otherwise.
                    initial.clone_from(&typed);
                }
                said
            }
            Typed::Command(name, rest) => {
                editor.remember(&typed);
                live.command(name, rest, &mut editor)
            }
            Typed::Shell { command, keep } => {
                editor.remember(&typed);
                live.shell(command, keep)
            }
            Typed::Unknown(name) => {
                let known = slash_commands::COMMANDS.iter().map(|slash| format!("/{}", slash.name));
                let hint = rejoin::suggestion(&format!("/{name}"), known);
                style::loud(&format!(
                    "there is no /{name}{hint} (/help lists all; with a blank in front it is a prompt)"
                ));
                Ok(())
            }
        };
        interrupts = usize::from(live.last().stopped);
        if let Err(error) = done {
            style::error(&error);
        }
    }
    live.farewell();
    Ok(if signals::leaving() { exit::CANCELLED } else { exit::DONE })
}

/// What a live conversation cannot be: away from a person, or without memory.
fn refuse(args: &RunArgs) -> anyhow::Result<()> {
    let fault = if !tty::is_there() {
        "a live conversation needs a terminal for its input and output; for a single turn use `rejoin run`"
    } else if args.ephemeral {
        "a live conversation remembers, --ephemeral does not; use `rejoin run --ephemeral`"
    } else if args.limits.is_said() {
        "at a limit a live conversation waits for you, who can name another agent with /agent; use `rejoin run --fallback`"
    } else {
        return refuse_how(&args.how);
    };
    Err(rejoin::Error::Config(fault.to_owned()).into())
}

/// Turns of a live conversation are run, and shown to a person.
fn refuse_how(how: &TurnArgs) -> anyhow::Result<()> {
    let fault = if how.dry_run {
        "--dry-run is for one turn: use `rejoin run --dry-run`, or /why in the conversation"
    } else if how.output != Output::Text {
        "a live conversation is for people: for -o json or stream-json use `rejoin run`"
    } else {
        return Ok(());
    };
    Err(rejoin::Error::Config(fault.to_owned()).into())
}
