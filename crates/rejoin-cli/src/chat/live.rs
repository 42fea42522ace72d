//! The conversation at the terminal: what is typed becomes a turn or a change of the chat's state, and is shown.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Parser;
use rejoin::{Agent, ChatStart, ChatState, ConversationId, Event, Rejoin, TurnBuilder, WantedMessage};

use super::editor::{Asked, Editor};
use super::slash_commands::{self, COMMANDS};
use super::{last_turns, refuse_how};
use crate::cli::{Cli, Command};
use crate::commands::edit::EditArgs;
use crate::commands::{edit, here, move_head, name, show, told, why};
use crate::screen::{self, print};
use crate::signals::Running;
use crate::tty::Quiet;
use crate::turn_printer::Printer;
use crate::{ask, prompt, style};

/// A conversation at the terminal.
pub(super) struct Live<'a> {
    rejoin: &'a Rejoin,
    state: ChatState,
    last: Last,
}

/// What became of the last thing that was typed.
#[derive(Clone, Copy, Default)]
pub(super) struct Last {
    /// A turn began.
    pub(super) begun: bool,
    /// It was stopped by Ctrl-C.
    pub(super) stopped: bool,
}

impl<'a> Live<'a> {
    /// Finds the conversation, and refuses what the first turn would refuse.
    pub(super) fn begin(rejoin: &'a Rejoin, start: ChatStart) -> anyhow::Result<Self> {
        let state = ChatState::begin(rejoin, &here()?, start)?;
        if state.nothing_to_continue() {
            style::loud("! nothing to continue in this project yet: a new conversation begins");
        }
        Ok(Self { rejoin, state, last: Last::default() })
    }

    /// Shows where it stands.
    pub(super) fn greet(&mut self) -> anyhow::Result<()> {
        let Some(view) = self.state.view(self.rejoin)? else {
            let agent = self.state.agent();
            style::talk(&format!("a new conversation with {agent} · /help, Ctrl-D leaves"));
            return Ok(());
        };
        let turns = style::plural(view.path().len(), "turn");
        let title = style::title(view.conversation().name.as_deref(), &view.title()?, 60);
        style::talk(&format!("{} · {title} · {turns} · /help, Ctrl-D leaves", view.id().short()));
        screen::say(&"\n".into());
        for problem in view.problems() {
            style::loud(&format!("! {problem}"));
        }
        print(last_turns::last_turns(&view)?)?;
        match self.state.checkpoint() {
            Some(WantedMessage::Reference(message)) => {
                style::talk(&format!("the next turn goes on after {message}, on a branch"));
            }
            Some(WantedMessage::Id(id)) => {
                style::talk(&format!("the next turn goes on after {}, on a branch", id.short()));
            }
            None => self.outlook()?,
        }
        Ok(())
    }

    /// Says how to come back.
    pub(super) fn farewell(&self) {
        if let Some(id) = self.conversation() {
            style::talk(&format!("kept: `rejoin chat -r {}` goes on", id.short()));
        }
    }

    /// The conversation's id, once it has begun.
    pub(super) fn conversation(&self) -> Option<ConversationId> {
        self.state.conversation()
    }

    pub(super) fn prompt(&self) -> String {
        format!("{} › ", self.state.agent())
    }

    pub(super) fn last(&self) -> Last {
        self.last
    }

    /// A turn with these words.
    pub(super) fn say(&mut self, words: &str) -> anyhow::Result<()> {
        self.carry_out(self.state.turn(self.rejoin, words))
    }

    fn carry_out(&mut self, turn: TurnBuilder<'_>) -> anyhow::Result<()> {
        let stopped = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&stopped);
        let mut turn = turn.on_question(move |question| Quiet::interrupted(|| ask::ask(question, &asked)));
        let mut printer = Printer::live(self.rejoin);
        let mut begun = None;
        let outcome = {
            let _running = Running::begin(turn.canceller()?, Arc::clone(&stopped));
            let _quiet = Quiet::begin();
            turn.run(|event| {
                if let Event::Init { conversation, .. } = event {
                    begun = *conversation;
                }
                printer.event(event);
            })
        };
        self.last = Last { begun: begun.is_some(), stopped: stopped.load(Ordering::Relaxed) };
        if let Some(id) = begun {
            self.state.turn_began(id);
        }
        match outcome {
            Ok(outcome) => {
                self.state.turn_ended(outcome.receipt().agent.clone());
                printer.finish(&outcome)?;
                print("\n")
            }
            Err(error) => {
                printer.broke_off(&error);
                Err(error.into())
            }
        }
    }

    /// What was typed after a slash.
    pub(super) fn command(&mut self, name: &str, rest: &str, editor: &mut Editor<'_>) -> anyhow::Result<()> {
        self.last = Last::default();
        match name {
            "help" => print(help()),
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
            "branch" if rest.is_empty() => self.as_in_the_shell("show", "--tree", editor),
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
        let Some(view) = self.state.view(self.rejoin)? else {
            let text = format!("nothing was said yet, so there is nothing to /{name}");
            return Err(rejoin::Error::Config(text).into());
        };
        // Which conversation is known here: what stands for it is not looked up.
        let given = ["rejoin", name, "@"].map(str::to_owned);
        let given = given.into_iter().chain(slash_commands::arguments(name, rest));
        let parsed = match Cli::try_parse_from(given) {
            Ok(cli) => cli.command,
            Err(error) => {
                let text = error.to_string();
                let text = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
                let usage = COMMANDS.iter().find(|slash| slash.name == name).map_or("", |slash| slash.usage);
                return Err(rejoin::Error::Config(format!("{text} (/{name} {usage})")).into());
            }
        };
        match parsed {
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

    /// Says what the next turn would do.
    fn outlook(&mut self) -> anyhow::Result<()> {
        match self.state.outlook(self.rejoin)? {
            Some(why) => style::talk(&why::outlook(&why)),
            None => style::talk(&format!("a new conversation with {}", self.state.agent())),
        }
        Ok(())
    }
}

/// All commands, in a table.
fn help() -> String {
    let mut out = String::new();
    for slash in COMMANDS {
        let usage = format!("/{} {}", slash.name, slash.usage);
        let _ = writeln!(out, "{usage:<32} {}", slash.about);
    }
    out.push_str(
        "\nA message is named by its turn's number, a branch, the beginning of its id, or @ (the head), @~1.\n\
         Alt-Enter, or a backslash before Enter, begins another line. Ctrl-C stops the turn, Ctrl-D leaves.\n",
    );
    out
}
