//! The prompt line: editing, history, completion, several lines.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use rejoin::ConversationId;
use rustyline::config::Configurer;
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{
    Cmd, ColorMode, CompletionType, ConditionalEventHandler, Event, EventContext, EventHandler, KeyCode,
    KeyEvent, Modifiers, RepeatCount,
};

use super::complete::ChatCompleter;
use crate::screen::{Painted, Style, label};
use crate::style;

/// How many prompts are remembered.
const REMEMBERED: usize = 2000;

/// What came of asking for a line.
pub(super) enum Asked {
    Line(String),
    /// Ctrl-C.
    Interrupted,
    /// Ctrl-D.
    Ended,
}

/// The prompt line.
pub(super) struct Editor<'a> {
    editor: rustyline::Editor<ChatCompleter<'a>, FileHistory>,
    history: PathBuf,
}

impl<'a> Editor<'a> {
    pub(super) fn open(helper: ChatCompleter<'a>, history: PathBuf) -> anyhow::Result<Self> {
        let config = rustyline::Config::builder()
            .max_history_size(REMEMBERED)?
            .history_ignore_space(true)
            .completion_type(CompletionType::List)
            .build();
        let mut editor = rustyline::Editor::with_config(config)?;
        editor.set_color_mode(if style::colour() { ColorMode::Enabled } else { ColorMode::Disabled });
        editor.set_helper(Some(helper));
        editor.bind_sequence(KeyEvent(KeyCode::Enter, Modifiers::ALT), Cmd::Newline);
        editor.bind_sequence(
            KeyEvent(KeyCode::Enter, Modifiers::NONE),
            EventHandler::Conditional(Box::new(BackslashEnter)),
        );
        // Made here, so that it is nobody else's from the first moment on.
        let made = OpenOptions::new().create(true).append(true).mode(0o600).open(&history);
        if let Err(error) = made.map_err(ReadlineError::from).and_then(|_| editor.load_history(&history)) {
            style::loud(&format!("! prompts are not remembered: {}: {error}", history.display()));
        }
        Ok(Self { editor, history })
    }

    /// Tells which conversation is spoken of, for completion.
    pub(super) fn about(&mut self, conversation: Option<ConversationId>) {
        if let Some(helper) = self.editor.helper_mut() {
            helper.conversation = conversation;
        }
    }

    /// All agents, and whether they are installed.
    pub(super) fn agents(&self) -> &[(String, bool)] {
        self.editor.helper().map(ChatCompleter::agents).unwrap_or_default()
    }

    /// Asks for a line, which may begin with a text that can be changed.
    pub(super) fn ask(&mut self, prompt: &str, initial: &str) -> anyhow::Result<Asked> {
        let prompt = label(prompt);
        let mut styled = Painted::default();
        styled.style(Style::ACCENT, &prompt);
        let prompt = (prompt.as_str(), styled.as_str());
        loop {
            return match self.editor.readline_with_initial(&prompt, (initial, "")) {
                // Only without a terminal worth the name do backslashes arrive here.
                Ok(line) if style::dumb() => Ok(Asked::Line(line.replace("\\\n", "\n"))),
                Ok(line) => Ok(Asked::Line(line)),
                Err(ReadlineError::Interrupted) => Ok(Asked::Interrupted),
                Err(ReadlineError::Eof) => Ok(Asked::Ended),
                Err(ReadlineError::Signal(_)) => continue,
                Err(error) => Err(error.into()),
            };
        }
    }

    /// Keeps a line for the arrow keys, today and tomorrow.
    pub(super) fn remember(&mut self, line: &str) {
        if matches!(self.editor.add_history_entry(line), Ok(true)) {
            // That it cannot be written was said when it could not be opened.
            let _ = self.editor.append_history(&self.history);
        }
    }
}

/// A backslash at the end makes Enter begin another line, in its stead. Completion does it: the editor's own
/// command for replacing leaves the cursor before what it puts in.
struct BackslashEnter;

impl ConditionalEventHandler for BackslashEnter {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, context: &EventContext<'_>) -> Option<Cmd> {
        let at_end = context.pos() == context.line().len() && context.line().ends_with('\\');
        at_end.then_some(Cmd::Complete)
    }
}
