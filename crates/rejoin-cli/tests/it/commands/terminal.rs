//! What a person at a terminal sees. `script` gives the command a terminal of its own.

use std::io::{Read, Write};
use std::process::Stdio;

use crate::support::{Bench, Call, failing_claude, fake_claude};

/// `rejoin` on a terminal.
fn on_terminal<'a>(bench: &'a Bench, args: &str) -> Call<'a> {
    let command = format!("{} {args}", env!("CARGO_BIN_EXE_rejoin"));
    Call::of(bench, "script", &["-qec", &command, "/dev/null"]).env("TERM", "xterm")
}

/// Whether there is a terminal to be had; where not, it is said.
fn has_terminals() -> bool {
    let found = std::env::split_paths("/usr/bin:/bin").any(|dir| dir.join("script").exists());
    if !found {
        eprintln!("skipped: there is no `script` to make a terminal with");
    }
    found
}

fn with_claude() -> Bench {
    let bench = Bench::new();
    let command = fake_claude(&bench.outside("bin"), "claude");
    bench.claude_is(&command, "");
    bench
}

#[test]
fn escape_sequences_of_an_answer_do_not_reach_a_terminal() {
    if !has_terminals() {
        return;
    }
    let bench = with_claude();
    for (args, colours) in [("run hello", "1"), ("show", "1"), ("ls", "1"), ("run -c hello", "")] {
        let said = on_terminal(&bench, args).env("NO_COLOR", colours).done();
        // Colours, and the status line: it goes to the beginning of its line, and clears what is below.
        let ours = ["[2m", "[35m", "[36m", "[0m", "[J"].map(|sequence| format!("\u{1b}{sequence}"));
        let shown = ours.iter().fold(said.stdout().to_owned(), |shown, ours| shown.replace(ours, ""));
        assert!(!shown.contains(['\u{1b}', '\u{7}']), "{args}: {shown:?}");
        assert!(args == "ls" || shown.contains("␛[2J␛]0;owned␇"), "nothing is hidden: {shown:?}");
        assert!(args == "ls" || shown.contains("end of answer"), "{args}: {shown:?}");
    }
}

#[test]
fn a_program_gets_the_answer_as_it_is() {
    let bench = with_claude();
    let said = bench.rejoin(&["run", "hello"]).done();
    assert!(said.stdout().contains("\u{1b}[2J"), "{:?}", said.stdout());
}

#[test]
fn talk_is_dim_on_a_terminal_unless_colours_are_unwanted() {
    if !has_terminals() {
        return;
    }
    let bench = Bench::new();
    let said = on_terminal(&bench, "run -a demo hello").done();
    assert!(said.stdout().contains("\u{1b}[2m○ demo"), "{:?}", said.stdout());
    let said = on_terminal(&bench, "run -a demo hello").env("NO_COLOR", "1").done();
    assert!(said.stdout().contains("○ demo") && !said.stdout().contains("\u{1b}[2m"), "{:?}", said.stdout());
}

#[test]
fn a_person_at_the_terminal_is_asked() {
    if !has_terminals() {
        return;
    }
    let bench = Bench::new();
    let said = on_terminal(&bench, "run -a demo ASK").given("2\n").done();
    let shown = said.stdout();
    for words in ["? Tea or coffee?", "1  tea", "2  coffee", "You answered “coffee”."] {
        assert!(shown.contains(words), "{words:?} is not in {shown:?}");
    }
}

#[test]
fn a_question_can_be_left_with_ctrl_c() {
    if !has_terminals() {
        return;
    }
    let bench = Bench::new();
    let mut command = on_terminal(&bench, "run -a demo ASK").command();
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut keyboard, mut screen) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut shown = String::new();
    let mut read = |until: &str| {
        let mut byte = [0; 256];
        while !shown.contains(until) {
            let count = screen.read(&mut byte).unwrap();
            assert!(count > 0, "{until:?} is not in {shown:?}");
            shown.push_str(&String::from_utf8_lossy(&byte[..count]));
        }
    };
    read("empty to decline");
    keyboard.write_all(b"\x03").unwrap();
    read("cancelled");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    bench.comes_to_rest();
}

#[test]
fn a_failure_is_told_once_whole_and_with_its_cure() {
    let bench = Bench::new();
    let words = format!("Invalid API key · Please run /login {}", "and so on ".repeat(40));
    let command = failing_claude(&bench.outside("bin"), "claude", words.trim());
    bench.claude_is(&command, "");
    let said = bench.rejoin(&["run", "hello"]).ends(1);
    said.tells(&[
        words.trim(),
        "not logged in",
        "→ run claude once and log in with /login, or set ANTHROPIC_API_KEY",
    ]);
    assert_eq!(said.stderr().matches("Invalid API key").count(), 1, "{}", said.stderr());
    // The hint works as it is printed.
    let hint = said.stderr().split('`').nth(1).unwrap().to_owned();
    let copied = hint.replacen("rejoin", env!("CARGO_BIN_EXE_rejoin"), 1);
    bench.claude_is(&fake_claude(&bench.outside("bin"), "claude"), "");
    let again = Call::of(&bench, "sh", &["-c", &copied]).done();
    assert!(again.stdout().contains("end of answer"), "{hint}: {}", again.stdout());
    let shown = bench.rejoin(&["show"]).done();
    assert_eq!(shown.stdout().matches(words.trim()).count(), 1, "{}", shown.stdout());
}
