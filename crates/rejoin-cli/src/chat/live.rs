//! The conversation at the terminal: what is typed becomes a turn or a change of the chat's state, and is shown.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rejoin::{
    ChatConversation, ChatStart, ChatState, ConversationId, Cursor, Event, Outcome, Rejoin, TurnBuilder,
    TurnId, TurnOutcome, WantedMessage,
};

use super::answer_elsewhere::{AskedElsewhere, Put};
use super::editor::{Asked, Editor};
use super::elsewhere::Elsewhere;
use super::notify::Notifier;
use super::shell_command::{self, CommandOutput};
use super::{file_mentions, last_turns, question_menu, turns_elsewhere};
use crate::commands::turn_args::Look;
use crate::commands::{here, why};
use crate::screen::{self, print};
use crate::signals::{self, Running};
use crate::style;
use crate::tty::{self, Quiet};
use crate::turn_printer::TurnPrinter;
use crate::wrap::wrapped;

/// A conversation at the terminal.
pub(super) struct Live<'a> {
    pub(super) rejoin: &'a Rejoin,
    pub(super) state: ChatState,
    look: Look,
    last: Last,
    /// What commands of the shell printed, for the next prompt.
    pub(super) outputs: Vec<CommandOutput>,
    /// How far the conversation was shown when it came up.
    shown: Option<Cursor>,
    /// The turns of this chat.
    ours: HashSet<TurnId>,
    elsewhere: Option<Elsewhere>,
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
    pub(super) fn begin(rejoin: &'a Rejoin, start: ChatStart, look: Look) -> anyhow::Result<Self> {
        let state = ChatState::begin(rejoin, &here()?, start)?;
        if state.nothing_to_continue() {
            style::loud("! nothing to continue in this project yet: a new conversation begins");
        }
        let last = Last::default();
        Ok(Self {
            rejoin,
            state,
            look,
            last,
            outputs: Vec::new(),
            shown: None,
            ours: HashSet::new(),
            elsewhere: None,
        })
    }

    /// Shows where it stands.
    pub(super) fn greet(&mut self) -> anyhow::Result<()> {
        let Some(view) = self.state.view(self.rejoin)? else {
            let agent = self.state.agent();
            style::talk(&format!("a new conversation with {agent} · /help, Ctrl-D leaves"));
            return Ok(());
        };
        self.shown = Some(view.cursor()?);
        let path = view.path();
        let turns = style::plural(path.len(), "turn");
        let width = tty::columns().saturating_sub(1);
        let title = style::title(view.conversation().name.as_deref(), &view.title()?, width.min(100));
        let age = match path.last().map(|turn| style::since(&turn.started)) {
            Some(age) if age == "just now" => " from a moment ago".to_owned(),
            Some(age) => format!(" from {age}"),
            None => String::new(),
        };
        // That the agent's own session goes on is said only where it will.
        let outlook = self.state.outlook(self.rejoin)?;
        let resumes = outlook.as_ref().is_some_and(|why| why.plan.resumes());
        let what = if resumes { "Resumed session" } else { "Conversation" };
        let id = view.id().short();
        for line in wrapped(&format!("{what}{age} · {id} · {turns} · /help, Ctrl-D leaves"), width) {
            style::talk(&line);
        }
        style::talk(&title);
        screen::say(&"\n".into());
        for problem in view.problems() {
            style::loud(&format!("! {problem}"));
        }
        print(last_turns::last_turns(&view)?)?;
        match (self.state.checkpoint(), outlook) {
            (Some(WantedMessage::Reference(message)), _) => {
                style::talk(&format!("the next turn goes on after {message}, on a branch"));
            }
            (Some(WantedMessage::Id(id)), _) => {
                style::talk(&format!("the next turn goes on after {}, on a branch", id.short()));
            }
            (None, Some(why)) => style::talk(&why::outlook(&why)),
            (None, None) => {}
        }
        if let Some(asked) = self.asked_elsewhere()? {
            style::loud(&turns_elsewhere::question(asked.question()));
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

    /// Asks for the next line; what happens elsewhere meanwhile appears above it.
    pub(super) fn ask(&mut self, editor: &mut Editor<'_>, initial: &str) -> anyhow::Result<Asked> {
        self.follow(editor);
        editor.about(self.conversation());
        if let Some(elsewhere) = &self.elsewhere
            && let Ok(end) = self.rejoin.end_of(elsewhere.conversation())
        {
            // What was changed up to here was changed by what was typed before.
            elsewhere.changes_are_ours_before(end.position());
        }
        self.at_prompt(true);
        let asked = editor.ask(&format!("{} › ", self.state.agent()), initial);
        self.at_prompt(false);
        // Another agent may have done a turn meanwhile; the prompt said who does the next one.
        self.state.keep_agent();
        asked
    }

    /// Answers what an agent asks in this conversation elsewhere.
    pub(super) fn answer(&mut self) -> anyhow::Result<()> {
        if let Some(asked) = self.asked_elsewhere()? {
            return self.answer_all(asked);
        }
        style::talk("nothing waits for an answer in this conversation");
        Ok(())
    }

    /// Enter alone: the same, where there is something to answer.
    pub(super) fn answer_if_asked(&mut self) -> anyhow::Result<()> {
        self.asked_elsewhere()?.map_or(Ok(()), |asked| self.answer_all(asked))
    }

    fn asked_elsewhere(&self) -> anyhow::Result<Option<AskedElsewhere<'a>>> {
        self.conversation().map_or(Ok(None), |id| AskedElsewhere::find(self.rejoin, id))
    }

    fn answer_all(&mut self, mut asked: AskedElsewhere<'a>) -> anyhow::Result<()> {
        while let Put::Settled = asked.put()? {
            if let Some(elsewhere) = &self.elsewhere {
                elsewhere.was_told(&asked.question().id);
            }
            match self.asked_elsewhere()? {
                Some(next) => asked = next,
                None => break,
            }
        }
        Ok(())
    }

    fn at_prompt(&self, at_prompt: bool) {
        if let Some(elsewhere) = &self.elsewhere {
            elsewhere.at_prompt(at_prompt);
        }
    }

    /// Follows the conversation, if it is not followed yet.
    fn follow(&mut self, editor: &mut Editor<'_>) {
        let Some(id) = self.conversation() else {
            self.elsewhere = None;
            return;
        };
        if self.elsewhere.as_ref().is_some_and(|elsewhere| elsewhere.conversation() == id) {
            return;
        }
        let Some(printer) = editor.printer() else { return };
        match Elsewhere::follow(self.rejoin, (id, self.shown), self.ours.clone(), printer) {
            Ok(elsewhere) => self.elsewhere = Some(elsewhere),
            Err(error) => style::loud(&format!("! what happens elsewhere is not shown: {error:#}")),
        }
    }

    /// Goes on with another conversation, or begins one.
    pub(super) fn switch(&mut self, conversation: ChatConversation) -> anyhow::Result<()> {
        let state = self.state.another(self.rejoin, conversation)?;
        self.farewell();
        (self.state, self.shown, self.elsewhere) = (state, None, None);
        self.greet()
    }

    pub(super) fn last(&self) -> Last {
        self.last
    }

    /// Nothing has become of what was typed now.
    pub(super) fn forget_last(&mut self) {
        self.last = Last::default();
    }

    /// A turn with these words, the files they mention and what commands printed.
    pub(super) fn say(&mut self, words: &str) -> anyhow::Result<()> {
        let outputs: Vec<String> = self.outputs.iter().map(CommandOutput::as_paragraph).collect();
        let prompt = [vec![words.to_owned()], outputs].concat().join("\n\n");
        let mut turn = self.state.turn(self.rejoin, prompt);
        let attached = &self.state.options().attach;
        let mentioned = file_mentions::mentioned(words, self.state.dir());
        for file in mentioned.into_iter().filter(|file| !attached.contains(file)) {
            turn = turn.attach(file);
        }
        self.carry_out(turn)
    }

    /// A command of the shell, in between; with `keep`, what it prints goes along with the next prompt.
    pub(super) fn shell(&mut self, command: &str, keep: bool) -> anyhow::Result<()> {
        self.forget_last();
        if command.is_empty() {
            style::talk(
                "!COMMAND runs a command of the shell; with !! its output goes along with the next prompt",
            );
            return Ok(());
        }
        if !keep {
            let ran = shell_command::run(command, self.state.dir());
            signals::hear_all();
            // A program that was killed may have left the terminal as it used it.
            tty::restore();
            return ran;
        }
        let output = shell_command::run_and_keep(command, self.state.dir());
        signals::hear_all();
        let output = output?;
        let bytes = style::bytes(output.len());
        style::talk(&format!(
            "{bytes} of output go along with the next prompt (`/attach -` takes them back)"
        ));
        self.outputs.push(output);
        Ok(())
    }

    pub(super) fn carry_out(&mut self, turn: TurnBuilder<'_>) -> anyhow::Result<()> {
        let stopped = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&stopped);
        let notifier = Notifier::begin(self.rejoin.config());
        let waits = notifier.clone();
        let mut turn = turn.on_question(move |question| {
            waits.tell(&format!("rejoin: {}", question.text));
            question_menu::put(question, &asked)
        });
        let mut printer = TurnPrinter::in_chat(self.rejoin, self.look);
        let mut begun = None;
        let outcome = {
            let running = Running::begin(turn.canceller()?, Arc::clone(&stopped));
            let _running = running.telling(printer.status());
            let _quiet = Quiet::begin();
            turn.run(|event| {
                if let Event::Init { conversation: Some(conversation), turn, .. } = event {
                    begun = Some((*conversation, *turn));
                }
                printer.event(event);
            })
        };
        self.last = Last { begun: begun.is_some(), stopped: stopped.load(Ordering::Relaxed) };
        if let Some((conversation, turn)) = begun {
            self.turn_began(conversation, turn);
        }
        match outcome {
            Ok(outcome) => {
                self.state.turn_ended(outcome.receipt().agent.clone());
                printer.finish(&outcome)?;
                if !self.last.stopped {
                    notifier.tell(&in_a_line(&outcome));
                }
                print("\n")
            }
            Err(error) => {
                printer.broke_off(&error);
                Err(self.refused(error))
            }
        }
    }

    /// Why a turn did not begin: where the agent waits for an answer, that is what can be done about it here.
    fn refused(&self, error: rejoin::Error) -> anyhow::Error {
        match self.asked_elsewhere() {
            Ok(Some(asked)) if error.is_busy() => {
                let question = style::one_line(&asked.question().text, 90);
                anyhow::anyhow!(
                    "the agent waits for an answer elsewhere: {question} Give it with `/answer`, then say this again"
                )
            }
            _ => error.into(),
        }
    }

    fn turn_began(&mut self, conversation: ConversationId, turn: TurnId) {
        self.state.turn_began(conversation);
        self.outputs.clear();
        self.ours.insert(turn);
        if let Some(elsewhere) = &self.elsewhere {
            elsewhere.is_ours(turn);
        }
    }

    /// Says what the next turn would do.
    pub(super) fn outlook(&mut self) -> anyhow::Result<()> {
        match self.state.outlook(self.rejoin)? {
            Some(why) => style::talk(&why::outlook(&why)),
            None => style::talk(&format!("a new conversation with {}", self.state.agent())),
        }
        Ok(())
    }
}

/// `rejoin: claude is done`, for whoever looks elsewhere.
fn in_a_line(outcome: &TurnOutcome) -> String {
    let agent = &outcome.receipt().agent;
    match outcome.outcome() {
        Outcome::Completed => format!("rejoin: {agent} is done"),
        Outcome::Failed { .. } => format!("rejoin: {agent} failed"),
        Outcome::Timeout { .. } => format!("rejoin: {agent} took too long"),
        Outcome::Cancelled => format!("rejoin: {agent} was cancelled"),
    }
}
