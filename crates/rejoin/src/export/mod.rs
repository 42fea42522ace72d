//! Conversations that leave this home: to be read, to be processed, to be taken in elsewhere.

mod bundle;
mod html;
mod markdown;
mod redact;

use std::io::{self, BufRead, BufReader, Write};

use rejoin_core::{Decision, Outcome, Turn};

use crate::{ConversationView, Error};

pub use bundle::{Imported, Taken};
pub use redact::Redactor;

/// What an export looks like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// Markdown: the path, to be read.
    Markdown,
    /// One HTML page that needs nothing else: the path, to be read.
    Html,
    /// The journal, a record per line.
    Jsonl,
    /// The journal with what is needed to take it in elsewhere, checked by a hash.
    Bundle,
}

impl ConversationView<'_> {
    /// Writes the conversation out, all of it; with a redactor, without what should not leave.
    pub fn export(
        &self,
        format: Format,
        redactor: Option<&mut Redactor>,
        out: &mut dyn Write,
    ) -> Result<(), Error> {
        let mut pen = Pen { redactor, out };
        match format {
            Format::Markdown => markdown::write(self, &mut pen),
            Format::Html => html::write(self, &mut pen),
            Format::Jsonl => self.lines(&mut |line| pen.put(line)),
            Format::Bundle => bundle::write(self, &mut pen),
        }
    }

    /// The lines of the journal, each with its end, if it has one.
    fn lines(&self, each: &mut dyn FnMut(&[u8]) -> Result<(), Error>) -> Result<(), Error> {
        let mut journal = BufReader::with_capacity(256 << 10, self.raw()?);
        let mut line = Vec::new();
        while journal.read_until(b'\n', &mut line).map_err(cannot("read the journal"))? > 0 {
            each(&line)?;
            line.clear();
        }
        Ok(())
    }

    /// Decision and outcome of a turn, in a few words.
    fn margin(turn: &Turn) -> String {
        let Some(receipt) = &turn.receipt else { return "not finished".into() };
        let decision = match &receipt.plan {
            Decision::Resume { .. } => "resumed".to_owned(),
            Decision::Fresh { why, .. } => format!("fresh ({})", why.name()),
        };
        match &receipt.outcome {
            Outcome::Completed => decision,
            Outcome::Failed { class, .. } => format!("{decision}, failed: {}", class.words()),
            Outcome::Timeout { .. } => format!("{decision}, timeout"),
            Outcome::Cancelled => format!("{decision}, cancelled"),
        }
    }
}

/// Writes, and takes out before what should not leave.
struct Pen<'a> {
    redactor: Option<&'a mut Redactor>,
    out: &'a mut dyn Write,
}

impl Pen<'_> {
    fn put(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let redacted = self.redactor.as_mut().map(|redactor| redactor.redact(bytes));
        self.out.write_all(redacted.as_deref().unwrap_or(bytes)).map_err(cannot("write the export"))
    }
}

fn cannot(what: &'static str) -> impl FnOnce(io::Error) -> Error {
    move |cause| rejoin_engine::TurnError::System { what: format!("cannot {what}"), cause }.into()
}
