//! Questions of an agent, put to the person at the terminal.

use std::io::{BufRead, IsTerminal};

use rejoin::{Answer, Question};

use crate::style;

/// Whether a person sits at the terminal and can be asked.
pub(crate) fn can_ask() -> bool {
    std::io::stderr().is_terminal()
        && std::io::stdout().is_terminal()
        && std::fs::File::open("/dev/tty").is_ok()
}

/// Asks the person at the terminal.
pub(crate) fn ask(question: &Question) -> Answer {
    style::loud(&format!("? {}", question.text));
    for (at, choice) in question.choices.iter().enumerate() {
        let description =
            if choice.description.is_empty() { String::new() } else { format!(": {}", choice.description) };
        style::talk(&format!("  {}  {}{description}", at + 1, choice.label));
    }
    style::talk("  (number or text, empty to decline)");
    let mut line = String::new();
    let read = std::fs::File::open("/dev/tty")
        .map(std::io::BufReader::new)
        .and_then(|mut tty| tty.read_line(&mut line));
    let line = line.trim();
    if read.is_err() || line.is_empty() {
        return Answer::Declined;
    }
    let chosen = line.parse::<usize>().ok().and_then(|number| question.choices.get(number.checked_sub(1)?));
    Answer::Text(chosen.map_or_else(|| line.to_owned(), |choice| choice.label.clone()))
}
