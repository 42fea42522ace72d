//! Questions of an agent in `rejoin chat`: a menu with keys.

use crate::support::{Bench, Screen};

const CTRL_C: &str = "\u{3}";
const DOWN: &str = "\u{1b}[B";
const ESC: &str = "\u{1b}";
/// Below the menu once keys count.
const READY: &str = "Esc declines";

#[test]
fn what_was_typed_before_a_question_is_no_answer() {
    let bench = Bench::new();
    let Some(mut screen) = Screen::open(&bench, "chat -a demo") else { return };
    screen.says("demo", "SLOW 20 ASK").shows("piece 1").types("1\r").shows("? Tea or coffee?");
    screen.shows("› 1 tea").shows("  2 coffee").shows(READY).types("2").shows("answered: coffee");
    screen.shows("You answered “coffee”.").says("demo", "/quit");
    screen.ends(0);
}

#[test]
fn arrows_words_and_nothing_are_answers() {
    let bench = Bench::new();
    let Some(mut screen) = Screen::sized(&bench, "chat -a demo", &[], (40, 24)) else { return };
    screen.says("demo", "ASK").shows(READY).types(DOWN).shows("› 2 coffee").types("\r");
    screen.shows("answered “coffee”.").says("demo", "ASK").shows(READY).types("milk").shows("> milk");
    screen.types("\r").shows("answered: milk").shows("answered “milk”.");
    screen
        .says("demo", "ASK")
        .shows(READY)
        .types("3")
        .shows("Esc goes back")
        .types(ESC)
        .shows(READY)
        .types(ESC);
    screen.shows("declined").shows("✓").says("demo", "/quit");
    screen.ends(0);
}

#[test]
fn ctrl_c_stops_a_turn_that_asks() {
    let bench = Bench::new();
    let Some(mut screen) = Screen::open(&bench, "chat -a demo") else { return };
    screen.says("demo", "ASK").shows(READY).types(CTRL_C).shows("■ cancelled");
    screen.says("demo", "go on MARK-a").shows("marks=MARK-a").shows("✓").says("demo", "/quit");
    screen.ends(0);
    bench.comes_to_rest();
}

#[test]
fn a_terminal_that_only_takes_lines_is_asked_for_one() {
    let bench = Bench::new();
    let Some(mut screen) = Screen::with(&bench, "chat -a demo", &[("TERM", "dumb")]) else { return };
    screen.says("demo", "ASK").shows("? Tea or coffee?").shows("empty to decline").types("2\r");
    screen.shows("You answered “coffee”.").says("demo", "/quit");
    screen.ends(0);
}
