use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Context;
use clap::Args;
use rejoin::{ConversationView, Kind, Message};

use super::run::carry_out;
use super::turn_args::TurnArgs;
use crate::{exit, prompt, style};

#[derive(Args)]
pub(crate) struct EditArgs {
    /// Id, unique prefix, name, @ (the newest here), @~1
    #[arg(default_value = "@", hide_default_value = true)]
    pub(crate) conversation: String,
    /// Which message: id or its beginning (`show --ids`), a turn's number (its prompt), @ (the last prompt), @~1; one
    /// word alone is the message, of the newest conversation [default: @]
    #[arg(default_value = "", hide_default_value = true)]
    pub(crate) message: String,
    /// The new text; `-` is standard input [default: your $VISUAL or $EDITOR is opened]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Leave the turn as it is and run the new text in its stead, on a branch
    #[arg(long)]
    pub(crate) from_here: bool,
    #[command(flatten)]
    pub(crate) how: TurnArgs,
}

/// `rejoin edit`
pub(crate) fn edit(args: &EditArgs) -> anyhow::Result<i32> {
    let rejoin = super::open()?;
    let (conversation, message) = match args.message.as_str() {
        "" => ("@", args.conversation.as_str()),
        message => (args.conversation.as_str(), message),
    };
    let view = super::view(&rejoin, conversation)?;
    let message = view.message(message)?;
    check(args, &message)?;
    let text = match &args.file {
        Some(file) => prompt::gather(None, std::slice::from_ref(file))?,
        None => in_editor(&message.text())?,
    };
    if args.from_here {
        let turn = rejoin.project(".").in_conversation(view.id()).instead_of(message.id).prompt(text);
        return carry_out(turn.fallback_as_configured(), &args.how);
    }
    amend(&view, &message, &text)?;
    Ok(exit::DONE)
}

/// Refuses to run what is not a prompt, and to overlook what is about running.
pub(crate) fn check(args: &EditArgs, message: &Message) -> anyhow::Result<()> {
    if !args.from_here && !args.how.is_empty() {
        let text =
            "an edit in place runs nothing: leave out what is about running a turn, or add --from-here";
        return Err(rejoin::Error::Config(text.into()).into());
    }
    if args.from_here && message.kind != Kind::User {
        let text = "only a prompt can be run again: name the user's message, or leave --from-here out";
        return Err(rejoin::Error::Config(text.into()).into());
    }
    Ok(())
}

/// Gives a message another wording, and says what that means.
pub(crate) fn amend(view: &ConversationView<'_>, message: &Message, text: &str) -> anyhow::Result<()> {
    let short = message.id.short();
    if view.amend_message(message.id, text)? {
        style::talk(&format!(
            "message {short} has a new wording; sessions that hold the old one are not resumed (`rejoin why {}`)",
            view.id().short()
        ));
    } else {
        style::talk(&format!("message {short} says that already: nothing changed"));
    }
    Ok(())
}

/// The editor a person chose, if they did.
pub(crate) fn chosen_editor() -> Option<String> {
    let named = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    named("VISUAL").or_else(|| named("EDITOR"))
}

/// Lets the person change a text in the editor of their choice.
pub(crate) fn in_editor(text: &str) -> anyhow::Result<String> {
    let usage = |text: &str| rejoin::Error::Config(text.to_owned());
    if !std::io::stdin().is_terminal() {
        return Err(usage("no terminal to open an editor on: give the new text with -f FILE, or -f -").into());
    }
    let editor = chosen_editor().ok_or_else(|| {
        usage("no editor is known: set VISUAL or EDITOR, or give the new text with -f FILE")
    })?;
    let draft = tempfile::Builder::new().prefix("rejoin-").suffix(".md").tempfile()?;
    std::fs::write(draft.path(), text)?;
    // As git does it: the variable may hold arguments, so a shell takes it apart.
    let status = Command::new("sh")
        .args(["-c", &format!("{editor} \"$1\""), "editor"])
        .arg(draft.path())
        .status()
        .with_context(|| format!("cannot start the editor {editor:?}"))?;
    if !status.success() {
        return Err(usage(&format!("the editor {editor:?} gave up ({status}); nothing was changed")).into());
    }
    let new = std::fs::read_to_string(draft.path()).context("cannot read what the editor left")?;
    // Editors end the last line; the text did not need to.
    Ok(if text.ends_with('\n') { new } else { new.strip_suffix('\n').unwrap_or(&new).to_owned() })
}
