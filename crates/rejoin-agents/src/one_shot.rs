//! The flow of a turn by a process that serves one: a line is read loosely and handed to what knows the agent,
//! which tells the [`Turn`] what it means; after the exit exactly one verdict has come.

use rejoin_core::{Agent, FailureClass, Outcome};
use serde::Deserialize;

use crate::driver::{diagnostic, ended_saying, mended};
use crate::failures::Failures;
use crate::turn_state::{Phase, Turn};
use crate::words::before_it_began;
use crate::{Answer, Driver, Exit, Line, Refusal, Step, TurnRequest, checks, truncated};

/// What differs between the agents: what their lines mean.
pub(crate) trait Lines: Send {
    /// One line, borrowed from its text.
    type Wire<'a>: Deserialize<'a>;
    /// Its name in sentences.
    const TITLE: &'static str;
    /// Its words for failures.
    const FAILURES: Failures;

    /// A turn begins: what is written for it. By default the prompt, and the input is closed.
    fn begin(&mut self, request: &TurnRequest<'_>, turn: &mut Turn) -> Result<(), Refusal> {
        turn.write(request.composed.prompt());
        Ok(())
    }

    /// Reads a line; `None` if it is none of the agent's.
    fn read(text: &str) -> Option<Self::Wire<'_>> {
        serde_json::from_str(text).ok()
    }

    /// Takes in a line, and says whether it was understood.
    fn line(&mut self, wire: Self::Wire<'_>, turn: &mut Turn) -> bool;

    /// A line that was not understood; says whether it meant something all the same.
    fn odd_line(&mut self, _text: &str, _turn: &mut Turn) -> bool {
        false
    }

    /// A line that came after the turn's end.
    fn late_line(&mut self, _text: &str, _turn: &mut Turn) {}

    /// A line of standard error.
    fn error_line(&mut self, _text: &str, _turn: &mut Turn) {}

    /// Its refusal to resume in what it said before it ended, asked only if nothing else had happened.
    fn rejection<'a>(&self, exit: &Exit<'a>) -> Option<&'a str> {
        Self::FAILURES.rejection(exit.stderr)
    }

    /// The process ended without a word about the turn's end: what it comes to by what came before.
    fn verdict(&mut self, _exit: &Exit<'_>, _turn: &mut Turn) -> Option<Outcome> {
        None
    }

    /// What it comes to if there is no [verdict](Lines::verdict) and nobody stopped it.
    fn unsaid(&mut self, exit: &Exit<'_>, turn: &Turn) -> Outcome {
        ended_without_a_word::<Self>(exit, turn, None)
    }

    /// Somebody answered a question, or nobody will.
    fn answer(&mut self, _question: &str, _answer: Answer, _turn: &mut Turn) {}

    /// It shall stop: how to ask for that in its own protocol. By signal, if nothing is written.
    fn interrupt(&mut self, _turn: &mut Turn) {}
}

/// What a turn comes to whose process said nothing of its end: by its last words, or else by those of its last
/// attempt.
pub(crate) fn ended_without_a_word<L: Lines + ?Sized>(
    exit: &Exit<'_>,
    turn: &Turn,
    attempt: Option<&str>,
) -> Outcome {
    let words = L::FAILURES.last_words(exit.stderr);
    let refused = turn.phase < Phase::Begun && exit.code.is_some_and(|code| code != 0);
    if let Some(words) = words.filter(|_| refused) {
        return L::FAILURES.outcome(words, before_it_began(words));
    }
    let class = if refused { FailureClass::Launch } else { FailureClass::NoResult };
    Outcome::failed(class, ended_saying(L::TITLE, exit, words.or(attempt)))
}

/// Drives a process that serves one turn.
pub(crate) struct OneShot<L> {
    agent: Agent,
    stores: bool,
    lines: L,
    turn: Option<Turn>,
}

impl<L: Lines + 'static> OneShot<L> {
    /// The driver of an agent, which stores its session unless the process is started without.
    pub(crate) fn driver(agent: Agent, stores: bool, lines: L) -> Box<dyn Driver> {
        Box::new(Self { agent, stores, lines, turn: None })
    }
}

impl<L: Lines> OneShot<L> {
    fn understood(&mut self, text: &str) -> Option<bool> {
        let wire = L::read(text)?;
        Some(self.lines.line(wire, self.turn.as_mut()?))
    }

    /// Does something for a turn that is not over, and passes on what came of it.
    fn during(&mut self, out: &mut Vec<Step>, act: impl FnOnce(&mut L, &mut Turn)) {
        if let Some(turn) = self.turn.as_mut().filter(|turn| !turn.is_over()) {
            act(&mut self.lines, turn);
            out.append(&mut turn.steps);
        }
    }
}

impl<L: Lines> Driver for OneShot<L> {
    fn begin_turn(&mut self, request: &TurnRequest<'_>, out: &mut Vec<Step>) -> Result<(), Refusal> {
        checks::prompt(request.composed.prompt())?;
        let turn = self.turn.insert(Turn::new(self.agent.clone(), self.stores, request));
        self.lines.begin(request, turn)?;
        out.append(&mut turn.steps);
        Ok(())
    }

    fn on_line(&mut self, line: Line<'_>, out: &mut Vec<Step>) {
        if line.bytes.trim_ascii().is_empty() {
            return;
        }
        let text = truncated::text(line);
        let over = self.turn.as_ref().is_none_or(Turn::is_over);
        let read = if over {
            Some(true)
        } else {
            // A line that is JSON, but not for every reader, is read as one that is.
            self.understood(&text).or_else(|| self.understood(&mended(&text)?))
        };
        let Some(turn) = &mut self.turn else { return };
        if over {
            self.lines.late_line(&text, turn);
        } else if read != Some(true) && !self.lines.odd_line(&text, turn) {
            turn.push(diagnostic(line));
        }
        out.append(&mut turn.steps);
    }

    fn on_stderr(&mut self, line: Line<'_>, out: &mut Vec<Step>) {
        self.during(out, |lines, turn| lines.error_line(&String::from_utf8_lossy(line.bytes), turn));
    }

    fn on_exit(&mut self, exit: &Exit<'_>, out: &mut Vec<Step>) {
        self.during(out, |lines, turn| {
            turn.open = false;
            let rejection = lines.rejection(exit).filter(|_| turn.may_be_rejected());
            if let Some(words) = rejection {
                return turn.reject(words);
            }
            let outcome = match lines.verdict(exit, turn) {
                Some(outcome) => outcome,
                None if turn.interrupted => Outcome::Cancelled,
                None => lines.unsaid(exit, turn),
            };
            turn.end(outcome);
        });
    }

    fn answer(&mut self, question: &str, answer: Answer, out: &mut Vec<Step>) {
        self.during(out, |lines, turn| lines.answer(question, answer, turn));
    }

    fn interrupt(&mut self, out: &mut Vec<Step>) {
        self.during(out, |lines, turn| {
            if !turn.interrupted {
                lines.interrupt(turn);
            }
            turn.interrupted = true;
        });
    }
}
