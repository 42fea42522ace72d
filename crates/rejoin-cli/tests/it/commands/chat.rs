//! `rejoin chat`, with somebody at the keyboard.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::support::{Bench, Screen, fake_claude, kill};

const CTRL_C: &str = "\u{3}";
const CTRL_D: &str = "\u{4}";
const CTRL_U: &str = "\u{15}";

/// The prompts on the path to the head.
pub(super) fn prompts(conversation: &Value) -> Vec<String> {
    let turns = conversation["turns"].as_array().unwrap().iter();
    turns.map(|turn| turn["messages"][0]["parts"][0]["text"].as_str().unwrap().to_owned()).collect()
}

fn last_plan(conversation: &Value) -> Value {
    conversation["turns"].as_array().unwrap().last().unwrap()["receipt"]["plan"].clone()
}

#[test]
fn the_second_prompt_resumes_with_nothing_but_itself() {
    let bench = Bench::new();
    let Some(mut screen) = Screen::open(&bench, "chat -a demo") else { return };
    screen.shows("a new conversation with demo");
    assert!(!screen.raw().contains('!'), "{:?}", screen.raw());
    screen.says("demo", "hello MARK-a");
    screen.shows("○ demo · new conversation").shows("SEEN n=1 marks=MARK-a").shows("✓");
    screen.says("demo", "and now MARK-b").shows("● demo · resumed").shows("turn 2 · 14 bytes sent");
    screen.shows("SEEN n=2 marks=MARK-a,MARK-b").shows("✓").shows("demo › ").types(CTRL_D);
    screen.shows("kept: `rejoin chat -r ");
    screen.ends(0);
    let conversation = bench.show();
    assert_eq!(prompts(&conversation), ["hello MARK-a", "and now MARK-b"]);
    assert_eq!(last_plan(&conversation)["decision"], "resume");
    let history = bench.home().join("chat_history");
    let kept = fs::read_to_string(&history).unwrap();
    assert!(kept.ends_with("hello MARK-a\nand now MARK-b\n"), "{kept}");
    assert_eq!(fs::metadata(history).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_conversation_that_goes_on_shows_its_last_turns_and_what_comes_next() {
    let bench = Bench::after_a_turn();
    bench.next("second MARK-b").done();
    bench.next("third MARK-c").done();
    let Some(mut screen) = Screen::open(&bench, "chat -c") else { return };
    screen.shows("Resumed session from a moment ago").shows("3 turns").shows("demo › hello MARK-a");
    screen.shows("demo › second MARK-b").shows("turn 2 · resumed").shows("SEEN n=2");
    screen.shows("demo › third MARK-c").shows("next turn on demo: resume").shows("demo › ");
    // The arrow brings back what was said here before: nothing yet.
    screen.types("fourth MARK-d\r").shows("turn 4").shows("marks=MARK-a,MARK-b,MARK-c,MARK-d");
    screen.shows("demo › ").types("\u{1b}[A").shows("fourth MARK-d").types(CTRL_U).types(CTRL_D);
    screen.ends(0);
    assert_eq!(bench.show()["turns"].as_array().unwrap().len(), 4);
}

#[test]
fn nothing_to_continue_is_said_before_a_new_one_begins() {
    let bench = Bench::new();
    let Some(mut screen) = Screen::open(&bench, "chat -c -a demo") else { return };
    screen.shows("! nothing to continue in this project yet").says("demo", "/quit");
    screen.ends(0);
    assert_eq!(bench.journals().len(), 0);
    let mut screen = Screen::open(&bench, "chat -s release -a demo hello").unwrap();
    screen.shows("new conversation").says("demo", "again").shows("resumed").says("demo", "/quit");
    screen.ends(0);
    assert_eq!(bench.show()["name"], "release");
}

#[test]
fn a_first_prompt_and_the_flags_of_run_are_taken() {
    let bench = Bench::after_a_turn();
    let Some(mut screen) = Screen::open(&bench, "chat -c -a demo2 --model m7 'over to you MARK-b'") else {
        return;
    };
    screen
        .shows("next turn on demo2: fresh: no session of this agent")
        .shows("○ demo2 · fresh: no session of this agent");
    screen.shows("marks=MARK-a,MARK-b").says("demo2", "/quit");
    screen.ends(0);
    let turns = bench.show()["turns"].clone();
    assert_eq!(turns[1]["receipt"]["model"], "m7");
}

#[test]
fn a_file_goes_along_with_the_first_prompt_only() {
    let bench = Bench::new();
    bench.file("notes.txt", "some notes");
    let Some(mut screen) = Screen::open(&bench, "chat -a demo --attach notes.txt 'read this'") else {
        return;
    };
    screen
        .shows("+ notes.txt")
        .shows("✓")
        .says("demo", "and now")
        .shows("resumed")
        .shows("✓")
        .says("demo", "/quit");
    screen.ends(0);
    let turns = bench.show()["turns"].clone();
    let parts = |turn: usize| turns[turn]["messages"][0]["parts"].as_array().unwrap().len();
    assert_eq!((parts(0), parts(1)), (2, 1));
}

#[test]
fn ctrl_c_stops_the_turn_and_not_the_conversation() {
    let bench = Bench::new();
    let Some(mut screen) = Screen::open(&bench, "chat -a demo") else { return };
    screen.says("demo", "SLOW 5000 MARK-a").shows("piece 3").types(CTRL_C).shows("■ cancelled");
    screen.shows("demo › ").types(CTRL_C).shows("Ctrl-D or /quit leaves");
    screen.says("demo", "go on MARK-b").shows("● demo · resumed").shows("MARK-a").shows("✓");
    screen.shows("demo › ").types(CTRL_D);
    screen.ends(0);
    bench.comes_to_rest();
}

#[test]
fn tools_are_one_line_each_with_what_became_of_them() {
    let bench = Bench::new();
    let Some(mut screen) = Screen::open(&bench, "chat -a demo") else { return };
    screen.says("demo", "TOOL-RUN [echo hi] TOOL-RUN [ls /nowhere]");
    screen.shows("⚙ shell echo hi").shows("✓ shell echo hi\n").shows("✗ shell ls /nowhere · ls: cannot");
    screen.says("demo", "/quit");
    screen.ends(0);
}

#[test]
fn what_was_refused_comes_back_to_the_prompt() {
    let bench = Bench::after_a_turn();
    let Some(mut screen) = Screen::open(&bench, "chat -c") else { return };
    screen.shows("demo › ");
    let mut other = bench.next("SLOW 200").start();
    other.hears("session");
    screen.types("too early").types("\r").shows("is in use").shows("demo › too early").types(CTRL_U);
    other.interrupt();
    other.ends(130);
    screen.types(CTRL_D);
    screen.ends(0);
}

#[test]
fn the_end_of_the_terminal_ends_it_with_the_terminal_as_it_was() {
    let bench = Bench::new();
    let Some(mut screen) = Screen::open(&bench, "chat -a demo") else { return };
    let stop = |bench: &Bench| {
        let rejoin = env!("CARGO_BIN_EXE_rejoin");
        let mine = bench
            .processes()
            .into_iter()
            .find(|process| process.command.starts_with(&format!("{rejoin} chat")));
        let pid = i32::try_from(mine.unwrap().pid).unwrap();
        rustix::process::kill_process(
            rustix::process::Pid::from_raw(pid).unwrap(),
            rustix::process::Signal::TERM,
        )
        .unwrap();
    };
    screen.shows("demo › ");
    stop(&bench);
    screen.ends(130);
    let mut screen = Screen::open(&bench, "chat -a demo 'SLOW 5000'").unwrap();
    screen.shows("piece 1");
    stop(&bench);
    screen.shows("■ cancelled");
    screen.ends(130);
    bench.comes_to_rest();
}

#[test]
fn nothing_of_an_answer_controls_the_terminal() {
    let bench = Bench::new();
    let command = fake_claude(&bench.outside("bin"), "claude");
    bench.claude_is(&command, "");
    let Some(mut screen) = Screen::open(&bench, "chat hello") else { return };
    screen.shows("end of answer").says("claude", "/show").shows("end of answer").shows("claude › ");
    let answer = bench.show()["turns"][0]["messages"][1]["id"].as_str().unwrap().to_owned();
    screen.types(&format!("/edit {answer}\r")).shows("holds control characters").says("claude", "/quit");
    assert!(!screen.raw().contains("\u{1b}[2J") && !screen.raw().contains("\u{1b}]"), "{:?}", screen.raw());
    assert!(screen.raw().contains("␛]0;owned␇"), "{:?}", screen.raw());
    screen.ends(0);
}

#[test]
fn plain_terminals_get_plain_text() {
    let bench = Bench::new();
    let Some(mut screen) = Screen::with(&bench, "chat -a demo", &[("TERM", "dumb")]) else { return };
    screen
        .says("demo", "one\\\rtwo MARK-a TOOL-RUN [echo hi]")
        .shows("⚙ shell echo hi\n")
        .shows("✓ shell echo hi\n");
    screen.shows("marks=MARK-a").says("demo", CTRL_D);
    assert!(!screen.raw().contains('\u{1b}'), "{:?}", screen.raw());
    screen.ends(0);
    assert_eq!(prompts(&bench.show()), ["one\ntwo MARK-a TOOL-RUN [echo hi]"]);
    let mut screen = Screen::with(&bench, "chat -c", &[("NO_COLOR", "1")]).unwrap();
    screen.says("demo", "two").shows("✓").says("demo", "/quit");
    assert!(
        !screen.raw().contains("\u{1b}[2m") && !screen.raw().contains("\u{1b}[1;36m"),
        "{:?}",
        screen.raw()
    );
    screen.ends(0);
}

#[test]
fn what_a_live_conversation_cannot_be_is_refused() {
    let bench = Bench::new();
    bench.rejoin(&["chat", "-a", "demo"]).ends(2).tells(&["needs a terminal", "rejoin run"]);
    for (args, words) in [
        ("chat --ephemeral", "--ephemeral does not"),
        ("chat -o json", "for -o json"),
        ("chat --dry-run", "rejoin run --dry-run"),
        ("chat -a dmeo", "did you mean \"demo\"?"),
    ] {
        let Some(mut screen) = Screen::open(&bench, args) else { return };
        screen.shows(words);
        screen.ends(2);
    }
    let mut screen = Screen::open(&bench, "chat -r 4f1c2a9e").unwrap();
    screen.shows("no conversation \"4f1c2a9e\"");
    screen.ends(4);
    assert_eq!(bench.journals().len(), 0);
}

#[test]
fn the_terminal_gone_the_agent_goes_too() {
    let bench = Bench::new();
    let Some(mut screen) = Screen::open(&bench, "chat -a demo 'SLOW 5000'") else { return };
    screen.shows("piece 2");
    drop(screen);
    for process in bench.processes().iter().filter(|process| process.command.starts_with("script")) {
        kill(process.pid);
    }
    bench.comes_to_rest();
}
