//! Conversations that leave this home: to be read, to be processed, to be taken in elsewhere.

mod boundary;
mod bundle;
mod cuts;
mod html;
mod lines;
mod markdown;
mod redact;
mod shapes;

use std::io::Write;

use rejoin_core::{Decision, Message, Outcome, Turn, visible_line};

use crate::error::cannot;
use crate::{ConversationView, Error};

pub use bundle::{ImportOutcome, Imported};
pub use redact::Redactor;

/// What begins a conversation without a name is cut here, in bytes.
const LONGEST_TITLE: usize = 2048;

/// What an export looks like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Format {
    /// Markdown: the path, to be read.
    Markdown,
    /// One HTML page that needs nothing else: all branches, to be read; the path is shown first.
    Html,
    /// As `rejoin show --json` has it: the path, nothing cut.
    Json,
    /// The journal, a record per line.
    Jsonl,
    /// The journal with what is needed to take it in elsewhere, checked by a hash.
    Bundle,
}

impl ConversationView<'_> {
    /// Writes the conversation out, all of it; with a redactor, without what should not leave, and without
    /// the turn that is running now: see [`ConversationView::settled`].
    pub fn export(
        &self,
        format: Format,
        redactor: Option<&mut Redactor>,
        out: &mut dyn Write,
    ) -> Result<(), Error> {
        if redactor.is_some() && !self.settled {
            return self.settled()?.0.export(format, redactor, out);
        }
        let mut pen = Pen { redactor, out };
        match format {
            Format::Markdown => markdown::write(self, &mut pen),
            Format::Html => html::write(self, &mut pen),
            Format::Json => {
                let whole = self.shown_for_export(pen.redactor.as_deref_mut())?;
                pen.put(&format!("{whole:#}\n"))
            }
            Format::Jsonl => self.lines(pen.redactor, &mut |line| put(pen.out, line)),
            Format::Bundle => bundle::write(self, pen),
        }
    }

    /// Decision and outcome of a turn, in a few words.
    fn margin(turn: &Turn) -> String {
        let Some(receipt) = &turn.receipt else { return "not finished".into() };
        let decision = match &receipt.plan {
            Decision::Resume { .. } => "resumed".to_owned(),
            Decision::Fresh { why, .. } => format!("fresh ({})", why.name()),
            Decision::Adopted { .. } => "in its own session".to_owned(),
        };
        match &receipt.outcome {
            Outcome::Completed => decision,
            Outcome::Failed { class, .. } => format!("{decision}, failed: {}", class.words()),
            Outcome::Timeout { .. } => format!("{decision}, timeout"),
            Outcome::Cancelled => format!("{decision}, cancelled"),
        }
    }
}

/// Writes, and takes out of the words before what should not leave.
struct Pen<'a> {
    redactor: Option<&'a mut Redactor>,
    out: &'a mut dyn Write,
}

impl Pen<'_> {
    fn put(&mut self, text: &str) -> Result<(), Error> {
        put(self.out, text.as_bytes())
    }

    fn clean(&mut self, text: &str) -> String {
        self.redactor.as_mut().map_or_else(|| text.to_owned(), |redactor| redactor.text(text))
    }

    /// The conversation's name, else the first line of what it begins with; cut only after it was looked through.
    fn title(&mut self, view: &ConversationView<'_>) -> Result<String, Error> {
        let conversation = view.conversation();
        let title = match (&conversation.name, conversation.tree.turns().first()) {
            (Some(name), _) => self.clean(name),
            (None, Some(first)) => {
                let said = view.messages(first, usize::MAX)?.first().map(Message::text).unwrap_or_default();
                let said = self.clean(&said);
                let line = said.lines().next().unwrap_or_default();
                line[..line.floor_char_boundary(LONGEST_TITLE)].to_owned()
            }
            (None, None) => String::new(),
        };
        Ok(visible_line(&title).into_owned())
    }

    /// What was said in a turn.
    fn messages(&mut self, view: &ConversationView<'_>, turn: &Turn) -> Result<Vec<Message>, Error> {
        let mut messages = view.messages(turn, usize::MAX)?;
        if let Some(redactor) = &mut self.redactor {
            for message in &mut messages {
                redactor.message(message);
            }
        }
        Ok(messages)
    }
}

fn put(out: &mut dyn Write, bytes: &[u8]) -> Result<(), Error> {
    out.write_all(bytes).map_err(cannot("write the export"))
}
