//! Questions of an agent, put to the person at the terminal.

use std::fs::File;
use std::io::{BufRead, BufReader};

use rejoin::{Answer, AnsweredBy, Question};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::{style, tty};

/// Whether a person sits at the terminal and can be asked.
pub(crate) fn can_ask() -> bool {
    tty::on_stderr() && tty::on_stdout() && File::open("/dev/tty").is_ok()
}

/// Asks the person at the terminal. A question that no longer matters is not waited on.
pub(crate) fn ask(question: &Question, matters: &mut dyn FnMut() -> bool) -> Answer {
    style::loud(&format!("? {}", question.text));
    for (at, option) in question.options.iter().enumerate() {
        let description =
            if option.description.is_empty() { String::new() } else { format!(": {}", option.description) };
        style::talk(&format!("  {}  {}{description}", at + 1, option.label));
    }
    style::talk(&format!("  ({}, empty to decline)", what_to_type(question)));
    loop {
        let line = read_line(matters).unwrap_or_default();
        let answer = Answer::typed(question, &line);
        match question.check(&answer.record(question, AnsweredBy::User)) {
            Ok(()) => return answer,
            Err(unfit) => style::talk(&format!("  {unfit}; {}", what_to_type(question))),
        }
    }
}

fn what_to_type(question: &Question) -> &'static str {
    match (question.options.is_empty(), question.multiple, question.free_text) {
        (true, ..) => "text",
        (false, false, true) => "number or text",
        (false, true, true) => "numbers with commas, or text",
        (false, false, false) => "number",
        (false, true, false) => "numbers with commas",
    }
}

/// A question with yes or no; anything but yes means no.
pub(crate) fn yes(question: &str) -> bool {
    style::loud(&format!("? {question} [y/N]"));
    let answer = read_line(&mut || true).unwrap_or_default();
    matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
}

/// A line of the terminal; `None` once it is not wanted any more.
fn read_line(is_wanted: &mut dyn FnMut() -> bool) -> Option<String> {
    let tty = File::open("/dev/tty").ok()?;
    let pause = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
    while is_wanted() {
        let mut fds = [PollFd::new(&tty, PollFlags::IN)];
        if poll(&mut fds, Some(&pause)).is_ok_and(|ready| ready > 0) {
            let mut line = String::new();
            BufReader::new(tty).read_line(&mut line).ok()?;
            return Some(line);
        }
    }
    // Half an answer must not become the beginning of something else.
    let _ = rustix::termios::tcflush(&tty, rustix::termios::QueueSelector::IFlush);
    None
}
