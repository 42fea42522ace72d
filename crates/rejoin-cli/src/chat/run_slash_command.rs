//! What the commands at the prompt do: most of it as the command of the same name in the shell.

use std::path::Path;

use clap::Parser;
use rejoin::{Agent, ChatConversation, Kind, Permissions};

use super::complete::levels;
use super::editor::{Asked, Editor};
use super::file_mentions::from_home;
use super::live::Live;
use super::slash_commands::{self, COMMANDS};
use super::{clipboard, cost, help, path_words, refuse_how};
use crate::cli::{Cli, Command};
use crate::commands::edit::EditArgs;
use crate::commands::pick_conversation::pick_another;
use crate::commands::{edit, export, move_head, name, show, told, why};
use crate::screen::{self, print};
use crate::{prompt, style, tty};

/// Longer answers are copied in part.
const LONGEST_COPY: usize = 1 << 20;

impl Live<'_> {
    /// What was typed after a slash.
    pub(super) fn command(&mut self, name: &str, rest: &str, editor: &mut Editor<'_>) -> anyhow::Result<()> {
        self.forget_last();
        match name {
            "help" => print(help::help(tty::columns().min(100))),
            "new" => self.begin_another(rest),
            "ls" => self.go_elsewhere(rest),
            "permissions" => self.choose_permissions(rest),
            "attach" => self.attach(rest),
            "agent" => self.choose_agent(rest, editor),
            "model" => {
                self.choose_model(rest);
                Ok(())
            }
            "fresh" => {
                self.state.begin_fresh_session();
                style::talk("the next turn begins a new session of the agent, told the history");
                Ok(())
            }
            "answer" => self.answer(),
            "branch" | "tree" if rest.is_empty() => self.as_in_the_shell("show", "--tree", editor),
            "cost" | "copy" | "export" | "tree" => self.about_it(name, rest),
            _ => self.as_in_the_shell(name, rest, editor),
        }
    }

    fn choose_agent(&mut self, name: &str, editor: &Editor<'_>) -> anyhow::Result<()> {
        if name.is_empty() {
            let mark = |(agent, installed): &(String, bool)| match installed {
                true if agent == self.state.agent().as_str() => format!("● {agent}\n"),
                true => format!("  {agent}\n"),
                false => format!("  {agent} (not installed)\n"),
            };
            return print(editor.agents().iter().map(mark).collect::<String>());
        }
        self.state.choose_agent(self.rejoin, Agent::named(name))?;
        self.outlook()
    }

    fn choose_model(&mut self, name: &str) {
        if !name.is_empty() {
            self.state.choose_model(name);
        }
        match &self.state.options().model {
            Some(model) => style::talk(&format!("the next turns ask for the model {model}")),
            None => style::talk("no model was named: the one the conversation had, else the agent's own"),
        }
    }

    /// The command of the shell that does the same, on this conversation.
    fn as_in_the_shell(&mut self, name: &str, rest: &str, editor: &mut Editor<'_>) -> anyhow::Result<()> {
        let Some(view) = self.state.view(self.rejoin)? else { return Err(nothing_said(name)) };
        match parsed(name, rest)? {
            Command::Show(args) => show::show_view(told(&view), &args).map(drop),
            Command::Name(args) => name::name_view(told(&view), &args),
            Command::Why(args) => {
                let named = args.agent.map(Agent::named).or_else(|| self.state.options().agent.clone());
                let turn = self.rejoin.project(".").in_conversation(view.id());
                why::why_of(turn, named, args.json).map(drop)
            }
            Command::Branch(args) => {
                move_head::branch_view(told(&view), &args)?;
                self.state.head_moved();
                self.outlook()
            }
            Command::Rewind(args) => {
                move_head::rewind_view(told(&view), &args)?;
                self.state.head_moved();
                self.outlook()
            }
            Command::Edit(args) => self.edit(&args, editor),
            Command::Retry(args) => {
                refuse_how(&args.how)?;
                match self.state.retry(self.rejoin, args.at.as_ref().map(Into::into)) {
                    Some(turn) => self.carry_out(args.how.apply(turn)),
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    fn edit(&mut self, args: &EditArgs, editor: &mut Editor<'_>) -> anyhow::Result<()> {
        let Some(view) = self.state.view(self.rejoin)? else { return Ok(()) };
        let message = view.message(&args.message)?;
        edit::check(args, &message)?;
        refuse_how(&args.how)?;
        let before = message.text();
        let text = match &args.file {
            Some(file) => prompt::gather(None, std::slice::from_ref(file))?,
            None if edit::chosen_editor().is_some() => edit::in_editor(&before)?,
            None if rejoin::visible(&before) != before => {
                let text =
                    "this message holds control characters: set VISUAL or EDITOR to edit it, or give -f FILE";
                return Err(rejoin::Error::Config(text.into()).into());
            }
            // No editor is known: the prompt line is one.
            None => match editor.ask("edit › ", &before)? {
                Asked::Line(text) => text,
                Asked::Interrupted | Asked::Ended => {
                    style::talk("nothing changed");
                    return Ok(());
                }
            },
        };
        if args.from_here {
            let turn = self.state.instead_of(self.rejoin, message.id, text);
            return turn.map_or(Ok(()), |turn| self.carry_out(args.how.apply(turn)));
        }
        edit::amend(&view, &message, &text)?;
        self.outlook()
    }

    /// What is asked about the conversation, or done with what it says.
    fn about_it(&mut self, name: &str, rest: &str) -> anyhow::Result<()> {
        let Some(view) = self.state.view(self.rejoin)? else { return Err(nothing_said(name)) };
        match name {
            "cost" => print(cost::of(told(&view), tty::columns())),
            "copy" => {
                let path = if rest.is_empty() { view.path() } else { view.path_to(rest)? };
                let messages = path.last().map(|turn| view.messages(turn, LONGEST_COPY)).transpose()?;
                let answers = messages.iter().flatten().filter(|message| message.kind == Kind::Assistant);
                let texts: Vec<String> = answers.map(rejoin::Message::text).collect();
                let text = texts.iter().map(|text| text.trim_end()).filter(|text| !text.is_empty());
                let text = text.collect::<Vec<_>>().join("\n\n");
                if text.is_empty() {
                    return Err(usage("that turn has no answer to copy"));
                }
                let bytes = style::bytes(text.len());
                style::talk(&format!("{bytes}: {}", clipboard::copy(&text)));
                Ok(())
            }
            "export" => {
                let id = view.id();
                // Without a file it is written here, not all over the screen.
                let named =
                    path_words::words(rest).iter().any(|word| !word.starts_with('-') || word == "--to");
                let rest = if named { rest.to_owned() } else { format!("rejoin-{}.md {rest}", id.short()) };
                let Command::Export(mut args) = parsed("export", &rest)? else { return Ok(()) };
                args.conversation = id.to_string();
                args.to = args.to.map(|file| self.state.dir().join(file));
                export::export(&args).map(drop)
            }
            _ => Err(usage(&format!("/{name} takes nothing behind it"))),
        }
    }

    fn begin_another(&mut self, prompt: &str) -> anyhow::Result<()> {
        self.switch(ChatConversation::New)?;
        if prompt.is_empty() { Ok(()) } else { self.say(prompt) }
    }

    /// Another conversation: the one that is named, else one that is picked.
    fn go_elsewhere(&mut self, named: &str) -> anyhow::Result<()> {
        if !named.is_empty() && (style::dumb() || self.rejoin.view(self.state.dir(), named).is_ok()) {
            return self.switch(ChatConversation::Reference(named.to_owned()));
        }
        match pick_another(named)? {
            Some(id) if Some(id) == self.conversation() => Ok(()),
            Some(id) => self.switch(ChatConversation::Id(id)),
            None => Ok(()),
        }
    }

    fn choose_permissions(&mut self, level: &str) -> anyhow::Result<()> {
        if !level.is_empty() {
            let level: Permissions = level.parse().map_err(|error: String| {
                let hint = rejoin::suggestion(level, levels().map(|level| level.name().to_owned()));
                usage(&format!("{error}{hint}"))
            })?;
            self.state.choose_permissions(self.rejoin, level)?;
        }
        let ceiling = self.state.view(self.rejoin)?.and_then(|view| view.conversation().ceiling);
        let line = match (self.state.options().permissions, ceiling) {
            (Some(level), _) => format!("permissions of the next turns: {}", level.name()),
            (None, Some(level)) => format!("permissions of this conversation: {}", level.name()),
            (None, None) => "no level was named: your configuration decides, else the agent's own".to_owned(),
        };
        style::talk(&line);
        Ok(())
    }

    /// Files for the next prompt; `-` takes back all that was put aside for it.
    fn attach(&mut self, files: &str) -> anyhow::Result<()> {
        if files == "-" {
            self.state.detach_all();
            self.outputs.clear();
        } else if self.state.dir().join(from_home(files)).is_file() {
            // A name with blanks, as it is.
            self.attach_one(files)?;
        } else {
            for file in path_words::words(files) {
                self.attach_one(&file)?;
            }
        }
        let attached = &self.state.options().attach;
        if attached.is_empty() && self.outputs.is_empty() {
            style::talk("nothing goes along with the next prompt");
        }
        for file in attached {
            let file = file.strip_prefix(self.state.dir()).unwrap_or(file);
            style::talk(&format!(
                "+ {} goes along with the next prompt",
                screen::label(&file.to_string_lossy())
            ));
        }
        for output in &self.outputs {
            style::talk(&format!("+ {} goes along with the next prompt", output.title()));
        }
        Ok(())
    }

    fn attach_one(&mut self, file: &str) -> anyhow::Result<()> {
        let path = self.state.dir().join(Path::new(&from_home(file)));
        if !self.state.options().attach.contains(&path) {
            self.state.attach(self.rejoin, path)?;
        }
        Ok(())
    }
}

/// What the shell would make of a command on this conversation. Which one is known here: what stands for it is not
/// looked up.
fn parsed(name: &str, rest: &str) -> anyhow::Result<Command> {
    let given = ["rejoin", name, "@"].map(str::to_owned);
    let given = given.into_iter().chain(slash_commands::arguments(name, rest));
    Cli::try_parse_from(given).map(|cli| cli.command).map_err(|error| {
        let text = error.to_string();
        let text = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
        let slash = COMMANDS.iter().find(|slash| slash.name == name);
        usage(&format!("{text} (/{name} {})", slash.map_or("", |slash| slash.usage)))
    })
}

fn nothing_said(name: &str) -> anyhow::Error {
    usage(&format!("nothing was said yet, so there is nothing to /{name}"))
}

fn usage(text: &str) -> anyhow::Error {
    rejoin::Error::Config(text.to_owned()).into()
}
