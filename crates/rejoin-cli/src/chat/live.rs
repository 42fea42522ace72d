//! The conversation itself: what the next turn is described with, and what was done.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Parser;
use rejoin::{Agent, ConversationView, Event, Rejoin, TurnBuilder};

use super::editor::{Asked, Editor};
use super::slash_commands::{self, COMMANDS};
use super::{last_turns, refuse_how};
use crate::cli::{Cli, Command};
use crate::commands::edit::EditArgs;
use crate::commands::run::{RunArgs, describe};
use crate::commands::{edit, here, move_head, name, show, why};
use crate::screen::{self, print};
use crate::signals::Running;
use crate::tty::Quiet;
use crate::turn_printer::Printer;
use crate::{ask, exit, prompt, style};

/// Stands for what will be said when it is asked whether anything can be.
const SOMETHING: &str = "?";

/// A conversation that is going on, or about to begin.
pub(super) struct Live<'a> {
    rejoin: &'a Rejoin,
    here: PathBuf,
    /// What the next turn is described with. The conversation is in `resume`, once there is one.
    args: RunArgs,
    /// Who would do the next turn.
    agent: Agent,
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
    pub(super) fn begin(rejoin: &'a Rejoin, mut args: RunArgs) -> anyhow::Result<Self> {
        let here = here()?;
        let newest = args.continue_latest.then(|| "@".to_owned());
        if let Some(wanted) = args.resume.clone().or(args.name.clone()).or(newest) {
            match rejoin.view(&here, &wanted) {
                Ok(view) => {
                    args.resume = Some(view.id().to_string());
                    args.name = None;
                    args.continue_latest = false;
                }
                // A name that is not taken is one for the conversation that begins.
                Err(error) if error.exit_code() == exit::NOT_FOUND && args.name.is_some() => {}
                Err(error) if error.exit_code() == exit::NOT_FOUND && args.continue_latest => {
                    style::loud("! nothing to continue in this project yet: a new conversation begins");
                    args.continue_latest = false;
                }
                Err(error) => return Err(error.into()),
            }
        }
        let agent = args.how.apply(describe(rejoin, &args, SOMETHING.into())).dry_run()?.agent;
        Ok(Self { rejoin, here, args, agent, last: Last::default() })
    }

    /// Shows where it stands.
    pub(super) fn greet(&mut self) -> anyhow::Result<()> {
        let Some(id) = self.conversation() else {
            let agent = &self.agent;
            style::talk(&format!("a new conversation with {agent} · /help, Ctrl-D leaves"));
            return Ok(());
        };
        let view = self.rejoin.view(&self.here, id)?;
        let turns = style::plural(view.path().len(), "turn");
        let title = style::title(view.conversation().name.as_deref(), &view.title()?, 60);
        style::talk(&format!("{} · {title} · {turns} · /help, Ctrl-D leaves", view.id().short()));
        screen::say(&"\n".into());
        for problem in view.problems() {
            style::loud(&format!("! {problem}"));
        }
        print(last_turns::last_turns(&view)?)?;
        match &self.args.checkpoint {
            Some(message) => style::talk(&format!("the next turn goes on after {message}, on a branch")),
            None => self.outlook()?,
        }
        Ok(())
    }

    /// Says how to come back.
    pub(super) fn farewell(&self) {
        if let Some(id) = self.conversation() {
            let short = id.get(..8).unwrap_or(id);
            style::talk(&format!("kept: `rejoin chat -r {short}` goes on"));
        }
    }

    /// The conversation's id, once it has begun.
    pub(super) fn conversation(&self) -> Option<&str> {
        self.args.resume.as_deref()
    }

    pub(super) fn prompt(&self) -> String {
        format!("{} › ", self.agent)
    }

    pub(super) fn last(&self) -> Last {
        self.last
    }

    /// A turn with these words.
    pub(super) fn say(&mut self, words: &str) -> anyhow::Result<()> {
        let turn = describe(self.rejoin, &self.args, words.to_owned());
        let turn = self.args.how.apply(turn);
        self.carry_out(turn)
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
        // Once begun it goes on, however the turn ended.
        if let Some(id) = begun {
            self.args.resume = Some(id.to_string());
            self.args.name = None;
            self.args.continue_latest = false;
            self.args.checkpoint = None;
            self.args.scope = None;
            self.args.how.fresh_session = false;
            self.args.how.attach.clear();
        }
        match outcome {
            Ok(outcome) => {
                self.agent = outcome.receipt().agent.clone();
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
                self.args.how.fresh_session = true;
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
                true if agent == self.agent.as_str() => format!("● {agent}\n"),
                true => format!("  {agent}\n"),
                false => format!("  {agent} (not installed)\n"),
            };
            return print(editor.agents().iter().map(mark).collect::<String>());
        }
        let before = self.args.how.agent.replace(name.to_owned());
        // What the next turn would refuse is refused here.
        match self.args.how.apply(describe(self.rejoin, &self.args, SOMETHING.into())).dry_run() {
            Ok(plan) => {
                self.agent = plan.agent;
                self.outlook()
            }
            Err(error) => {
                self.args.how.agent = before;
                Err(error.into())
            }
        }
    }

    fn choose_model(&mut self, name: &str) {
        if !name.is_empty() {
            self.args.how.model = Some(name.to_owned());
        }
        match &self.args.how.model {
            Some(model) => style::talk(&format!("the next turns ask for the model {model}")),
            None => style::talk("no model was named: the one the conversation had, else the agent's own"),
        }
    }

    /// The command of the shell that does the same, on this conversation.
    fn as_in_the_shell(&mut self, name: &str, rest: &str, editor: &mut Editor<'_>) -> anyhow::Result<()> {
        let Some(id) = self.conversation().map(str::to_owned) else {
            let text = format!("nothing was said yet, so there is nothing to /{name}");
            return Err(rejoin::Error::Config(text).into());
        };
        let given = ["rejoin".to_owned(), name.to_owned(), id]
            .into_iter()
            .chain(slash_commands::arguments(name, rest));
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
            Command::Show(args) => show::show(&args).map(drop),
            Command::Name(args) => name::name(&args).map(drop),
            Command::Why(mut args) => {
                args.agent = args.agent.or_else(|| self.args.how.agent.clone());
                why::why(&args).map(drop)
            }
            Command::Branch(args) => {
                move_head::branch(&args)?;
                self.args.checkpoint = None;
                self.outlook()
            }
            Command::Rewind(args) => {
                move_head::rewind(&args)?;
                self.args.checkpoint = None;
                self.outlook()
            }
            Command::Edit(args) => self.edit(&args, editor),
            Command::Retry(args) => {
                refuse_how(&args.how)?;
                let turn = self.rejoin.project(".").resume(&args.conversation).retry(args.at.clone());
                self.carry_out(args.how.apply(self.args.how.apply(turn)))
            }
            _ => Ok(()),
        }
    }

    fn edit(&mut self, args: &EditArgs, editor: &mut Editor<'_>) -> anyhow::Result<()> {
        let view = self.view()?;
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
            let turn = self.rejoin.project(".").resume(&args.conversation);
            let turn = turn.instead_of(message.id.to_string()).prompt(text);
            return self.carry_out(args.how.apply(self.args.how.apply(turn)));
        }
        edit::amend(&view, &message, &text)?;
        self.outlook()
    }

    fn view(&self) -> anyhow::Result<ConversationView<'a>> {
        Ok(self.rejoin.view(&self.here, self.conversation().unwrap_or("@"))?)
    }

    /// Says what the next turn would do.
    fn outlook(&mut self) -> anyhow::Result<()> {
        let Some(id) = self.conversation() else {
            style::talk(&format!("a new conversation with {}", self.agent));
            return Ok(());
        };
        let why = self.args.how.apply(self.rejoin.project(".").resume(id)).why()?;
        style::talk(&why::outlook(&why));
        self.agent = why.agent;
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
