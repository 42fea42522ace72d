//! `rejoin chat`: a live conversation at the terminal. Every turn is the same call as that of `rejoin run`.

mod calls;
mod command;
mod complete;
mod editor;
mod live;
mod recall;

pub(crate) use calls::Calls;

use crate::cli::{HowArgs, Output, RunArgs};
use crate::commands::{here, open};
use crate::{exit, prompt, signals, style, tty};

use command::Typed;
use complete::Helper;
use editor::{Asked, Editor};
use live::Live;

/// `rejoin chat`
pub(crate) fn chat(mut args: RunArgs) -> anyhow::Result<i32> {
    refuse(&args)?;
    let mut first = match (args.prompt.take(), std::mem::take(&mut args.file)) {
        (None, files) if files.is_empty() => None,
        (argument, files) => Some(prompt::gather(argument.as_deref(), &files)?),
    };
    let rejoin = open()?;
    tty::keep()?;
    signals::watch()?;
    let mut live = Live::begin(&rejoin, args)?;
    let mut editor = Editor::open(Helper::new(&rejoin, here()?), rejoin.home().join("chat_history"))?;
    live.greet()?;
    let (mut initial, mut interrupts) = (String::new(), 0);
    while !signals::leaving() {
        let typed = if let Some(first) = first.take() {
            first
        } else {
            editor.about(live.conversation());
            match editor.ask(&live.prompt(), &std::mem::take(&mut initial))? {
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
        let done = match command::read(&typed) {
            Typed::Nothing => continue,
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
            Typed::Unknown(name) => {
                let known = command::COMMANDS.iter().map(|slash| format!("/{}", slash.name));
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
    } else {
        return refuse_how(&args.how);
    };
    Err(rejoin::Error::Config(fault.to_owned()).into())
}

/// Turns of a live conversation are run, and shown to a person.
fn refuse_how(how: &HowArgs) -> anyhow::Result<()> {
    let fault = if how.dry_run {
        "--dry-run is for one turn: use `rejoin run --dry-run`, or /why in the conversation"
    } else if how.output != Output::Text {
        "a live conversation is for people: for -o json or stream-json use `rejoin run`"
    } else {
        return Ok(());
    };
    Err(rejoin::Error::Config(fault.to_owned()).into())
}
