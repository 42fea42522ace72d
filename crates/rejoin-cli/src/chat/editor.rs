//! The prompt line: editing, history, completion, several lines, and the person's own editor.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rejoin::ConversationId;
use rustyline::config::Configurer;
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{
    Cmd, ColorMode, CompletionType, ConditionalEventHandler, Event, EventContext, EventHandler,
    ExternalPrinter, KeyCode, KeyEvent, Modifiers, RepeatCount,
};
use unicode_width::UnicodeWidthStr;

use super::complete::ChatCompleter;
use crate::commands::edit;
use crate::screen::{self, Cursor, Painted, Style, label};
use crate::{style, tty};

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
    line: rustyline::Editor<ChatCompleter<'a>, FileHistory>,
    history: PathBuf,
    /// Ctrl-X Ctrl-E was pressed: the line goes to the person's editor, and to nobody else.
    is_elsewhere: Arc<AtomicBool>,
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
        let is_elsewhere = Arc::new(AtomicBool::new(false));
        editor.bind_sequence(
            Event::KeySeq(vec![KeyEvent::ctrl('X'), KeyEvent::ctrl('E')]),
            EventHandler::Conditional(Box::new(ToEditor(Arc::clone(&is_elsewhere)))),
        );
        // Made here, so that it is nobody else's from the first moment on.
        let made = OpenOptions::new().create(true).append(true).mode(0o600).open(&history);
        if let Err(error) = made.map_err(ReadlineError::from).and_then(|_| editor.load_history(&history)) {
            style::loud(&format!("! prompts are not remembered: {}: {error}", history.display()));
        }
        Ok(Self { line: editor, history, is_elsewhere })
    }

    /// Tells which conversation is spoken of, for completion.
    pub(super) fn about(&mut self, conversation: Option<ConversationId>) {
        if let Some(helper) = self.line.helper_mut() {
            helper.conversation = conversation;
        }
    }

    /// All agents, and whether they are installed.
    pub(super) fn agents(&self) -> &[(String, bool)] {
        self.line.helper().map(ChatCompleter::agents).unwrap_or_default()
    }

    /// Prints above the line that is being typed, from another thread; not where lines are all a terminal takes.
    pub(super) fn printer(&mut self) -> Option<impl ExternalPrinter + Send + 'static> {
        self.line.create_external_printer().ok()
    }

    /// Asks for a line, which may begin with a text that can be changed.
    pub(super) fn ask(&mut self, prompt: &str, initial: &str) -> anyhow::Result<Asked> {
        let prompt = label(prompt);
        let mut styled = Painted::default();
        styled.style(Style::ACCENT, &prompt);
        let both = (prompt.as_str(), styled.as_str());
        let mut initial = initial.to_owned();
        loop {
            return match self.line.readline_with_initial(&both, (&initial, "")) {
                Ok(line) if self.is_elsewhere.swap(false, Ordering::Relaxed) => {
                    initial = in_editor(&prompt, line);
                    continue;
                }
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
        if matches!(self.line.add_history_entry(line), Ok(true)) {
            // That it cannot be written was said when it could not be opened.
            let _ = self.line.append_history(&self.history);
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

/// The line goes to the person's editor, by ending it; what they make of it is asked for again.
struct ToEditor(Arc<AtomicBool>);

impl ConditionalEventHandler for ToEditor {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, _: &EventContext<'_>) -> Option<Cmd> {
        self.0.store(true, Ordering::Relaxed);
        Some(Cmd::AcceptLine)
    }
}

/// What the person makes of a line in their editor; the line itself, if there is none or it gave up.
fn in_editor(prompt: &str, line: String) -> String {
    // The line is asked for again: it need not stand there twice.
    let columns = tty::columns().max(1);
    let rows = |line: &str| line.width().max(1).div_ceil(columns);
    let rows: usize = format!("{prompt}{line}").split('\n').map(rows).sum();
    let mut gone = Painted::default();
    gone.cursor(Cursor::Up(rows));
    gone.cursor(Cursor::ClearBelow);
    screen::say(&gone);
    edit::in_editor(&line).unwrap_or_else(|error| {
        style::error(&error);
        line
    })
}
