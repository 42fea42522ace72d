use rejoin_core::{Event, Outcome, Stream, Usage};

use crate::{Answer, Refusal, TurnRequest, numbers, surrogates};

/// Reads what an agent prints and says what it means. A state machine without I/O: tests feed it
/// recordings, the engine feeds it a live process.
pub trait Driver: Send {
    /// A turn begins: what to do for it once the process runs, usually to write the prompt and to close the
    /// input. Asked before anything is written or started, so whatever cannot be done is refused here; it may
    /// look at the project's files and changes nothing. [`warnings_beforehand`](crate::warnings_beforehand)
    /// takes out of the steps what the user should be told first.
    ///
    /// Called once on a process that does not [serve more](Driver::serves_more), else again after each
    /// [`Step::Ended`].
    fn begin_turn(&mut self, turn: &TurnRequest<'_>, out: &mut Vec<Step>) -> Result<(), Refusal>;

    /// Whether another turn may begin on this process now that this one has ended. No, by default: the
    /// process ends with its turn.
    fn serves_more(&self) -> bool {
        false
    }

    /// When the agent's store shows a turn of which it was said that it [ended](Step::Ended). Until then the
    /// process must not be killed, and what changes in the store is the turn's own doing.
    fn settles(&self) -> Settles {
        Settles::AtExit
    }

    /// Takes in one line of standard output, without its end.
    fn on_line(&mut self, line: Line<'_>, out: &mut Vec<Step>);

    /// Takes in one line of standard error. Nothing by default: the engine keeps it anyway.
    fn on_stderr(&mut self, _line: Line<'_>, _out: &mut Vec<Step>) {}

    /// The process ended and all its output was read. If no [`Step::Ended`] or
    /// [`Step::Rejected`] came before, one must come now.
    fn on_exit(&mut self, exit: &Exit<'_>, out: &mut Vec<Step>);

    /// Somebody answered a question, or nobody will.
    fn answer(&mut self, _question: &str, _answer: Answer, _out: &mut Vec<Step>) {}

    /// How to ask the agent to stop in its own protocol; no step means: by signal.
    fn interrupt(&mut self, _out: &mut Vec<Step>) {}
}

/// What the engine should do next.
#[derive(Clone, PartialEq, Debug)]
pub enum Step {
    /// Something happened.
    Emit(Event),
    /// Write these bytes to the agent's input.
    Write(Vec<u8>),
    /// Close the agent's input.
    CloseStdin,
    /// The agent showed that its session is stored: it can be resumed from now on.
    Stored,
    /// The agent's running total over its whole session (agents that count so).
    Total(Usage),
    /// The agent refused to resume the session it was asked for, in these words.
    Rejected(String),
    /// The agent says again that it waits for something: the line was understood, and is no sign of life.
    Waiting,
    /// The turn is over, whatever the process does: the agent said so. That its store shows it is another
    /// matter: see [`Driver::settles`].
    Ended(Outcome),
}

/// When an agent's store shows a turn that the agent said is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Settles {
    /// When the process has ended and nobody writes any more: every agent that serves one turn.
    AtExit,
    /// With the word itself: it stores first and speaks then.
    AtEnd,
    /// Some time after its word (a Claude Code that is kept running: 4 to 64 ms in 2.1.197, up to 82 in
    /// 2.1.52). Its store has to be [looked at](crate::Definition::look) until it has moved.
    Afterwards,
}

/// One line of output.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// Its bytes; not always UTF-8.
    pub bytes: &'a [u8],
    /// It was longer than the limit: these are its first bytes.
    pub truncated: bool,
}

impl<'a> Line<'a> {
    /// A whole line.
    pub fn whole(bytes: &'a [u8]) -> Self {
        Self { bytes, truncated: false }
    }
}

/// How a process ended.
#[derive(Clone, Copy, Debug)]
pub struct Exit<'a> {
    /// Its exit code, if it ended by itself.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// The last few KiB of its standard error, control sequences removed.
    pub stderr: &'a str,
}

/// A line that is JSON, but not for every reader, as one that is; `None` if it is wrong in another way.
pub(crate) fn mended(line: &str) -> Option<String> {
    let whole = surrogates::mended(line);
    numbers::mended(whole.as_deref().unwrap_or(line)).or(whole)
}

/// A line that is no event: kept, cut at a few KiB, counted.
pub(crate) fn diagnostic(line: Line<'_>) -> Step {
    const MOST: usize = 4096;
    let text = String::from_utf8_lossy(&line.bytes[..line.bytes.len().min(MOST)]);
    Step::Emit(Event::Diagnostic { stream: Stream::Stdout, text: text.into_owned() })
}

/// A value as one line for an agent's input.
pub(crate) fn json_line(value: &serde_json::Value) -> Vec<u8> {
    let mut line = value.to_string().into_bytes();
    line.push(b'\n');
    line
}

/// How a process ended that never said how its turn ended, with its last words.
pub(crate) fn ended_saying(who: &str, exit: &Exit<'_>, words: Option<&str>) -> String {
    let how = match (exit.code, exit.signal) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "no exit code".to_owned(),
    };
    match words {
        Some(words) => format!("{who} ended without a result ({how}): {words}"),
        None => format!("{who} ended without a result ({how}) and without a word"),
    }
}
