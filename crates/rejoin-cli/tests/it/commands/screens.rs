//! Every screen, narrow and wide: lines that fit, whole words, and colours that can be read on black and on white.

use std::fmt::Write as _;

use super::status_line::settled;
use crate::support::{Bench, Screen, looks};

const WIDTHS: [usize; 3] = [40, 80, 200];

/// The screens whose text is compared, too. What is in those of `agents` and `why` depends on where the programs are.
const COMPARED: [&str; 10] = [
    "ls",
    "ls -A",
    "show --tree parser",
    "search parser",
    "stats --by agent",
    "prune --older-than 0s --dry-run",
    "flow ls",
    "flow show",
    "flow run review.flow.yaml --dry-run",
    "flow run review.flow.yaml",
];
const OTHERS: [&str; 10] = [
    "agents",
    "why",
    "why -a demo2",
    "show",
    "flow prune --older-than 0s --dry-run",
    "doctor",
    "config",
    "fsck",
    "--help",
    "run --no-such",
];

/// Attributes without a colour; red, green, magenta and cyan in the shades that terminals choose for their ground. No
/// white, black or yellow in any shade, nothing bright, no ground of our own.
const READABLE: [&str; 12] = ["0", "1", "2", "3", "4", "7", "9", "31", "32", "35", "36", "39"];

const FLOW: &str = "
name: review of the parser
inputs:
  area: { default: src/parser, description: the directory to look at }
steps:
  diagnose: { agent: demo, prompt: 'Find the bug in {{ inputs.area }}, and tell me what is wrong about it' }
  tests: { run: 'echo one of all the tests of the parser has failed, and here it is described why; exit 1', allow_failure: true }
  fix: { continue_from: diagnose, prompt: Now mend it and say at some length what there was to be done }
";

/// The colours on a screen that cannot be read everywhere.
pub(super) fn unreadable(screen: &Screen) -> Vec<String> {
    let looks = looks(&screen.raw()).into_iter();
    looks.filter(|code| !READABLE.contains(&code.as_str())).collect()
}

/// A project in which something of everything was done.
fn lived_in() -> Bench {
    let bench = Bench::new();
    bench.file("review.flow.yaml", FLOW);
    let words = "look at the parser, and say at some length what there is to be done about it";
    bench.first(words).with(&["-s", "parser"]).done();
    bench.next("TOOL-RUN [echo one; echo two] MARK-b").done();
    bench.next("another way to mend the parser").with(&["--checkpoint", "1"]).done();
    bench.first("bump the version").with(&["-s", "release"]).done();
    bench.hand_to("demo2", "FAIL quota come back tomorrow, or the day after tomorrow").ends(1);
    cancelled(&bench);
    bench.rejoin(&["flow", "run", "review.flow.yaml"]).done();
    bench
}

fn cancelled(bench: &Bench) {
    let mut turn = bench.first("SLEEP 600").start();
    turn.hears("tool_use");
    turn.interrupt();
    turn.ends(130);
    bench.comes_to_rest();
}

#[test]
fn no_word_is_broken_and_no_line_too_wide() {
    let bench = lived_in();
    let mut problems = String::new();
    let mut screens = WIDTHS.map(|_| String::new());
    for args in OTHERS.iter().chain(&COMPARED) {
        for (columns, screens) in WIDTHS.iter().zip(&mut screens) {
            let env = [("PAGER", "cat"), ("TZ", "UTC")];
            let Some(mut screen) = Screen::sized(&bench, args, &env, (*columns, 100)) else { return };
            screen.shows("code=");
            for line in screen.overlong() {
                let _ = writeln!(problems, "{args} at {columns}: {line}");
            }
            for code in unreadable(&screen) {
                let _ = writeln!(problems, "{args} at {columns}: the colour {code}");
            }
            if COMPARED.contains(args) {
                let _ = writeln!(screens, "$ rejoin {args}\n{}\n", screen.picture());
            }
        }
    }
    assert!(problems.is_empty(), "{problems}");
    let _guards = settled(&bench);
    for (columns, screens) in WIDTHS.iter().zip(screens) {
        insta::assert_snapshot!(format!("screens_at_{columns}_columns"), screens);
    }
}

#[test]
fn what_the_user_stopped_is_cancelled_wherever_a_person_reads_it() {
    let bench = Bench::new();
    cancelled(&bench);
    for args in [&["ls"][..], &["show"], &["show", "--tree"]] {
        let said = bench.rejoin(args).done();
        let words = said.stdout();
        assert!(words.contains("cancelled") && !words.contains("interrupted"), "{args:?}: {words}");
    }
    assert_eq!(bench.conversations()[0]["state"], "interrupted", "programs have the names they had");
}

#[test]
fn the_answer_of_a_flow_is_rendered_where_it_is_seen() {
    let bench = Bench::new();
    bench.file("test.flow.yaml", "steps: { a: { agent: demo, prompt: 'TOOL-RUN [echo one]' } }");
    let seen = |args: &str, columns| {
        let mut screen = Screen::sized(&bench, args, &[("PAGER", "cat")], (columns, 60))?;
        let picture = screen.shows("code=0").picture();
        screen.ends_here();
        Some(picture)
    };
    for columns in [40, 80] {
        let Some(run) = seen("flow run test.flow.yaml", columns) else { return };
        let shown = seen("flow show", columns).unwrap();
        for picture in [&run, &shown] {
            assert!(picture.contains("echo one ran: “one”."), "{picture}");
        }
        let plain = [("flow run --plain test.flow.yaml", ""), ("flow show --plain", "  ")];
        for (args, indent) in plain {
            let picture = seen(args, columns).unwrap();
            let raw = format!("{indent}I am the demo agent. This is message 1 of session ");
            let beginning: String = raw.chars().take(columns).collect();
            assert!(picture.contains(beginning.trim_end()), "{picture}");
            assert!(picture.replace('\n', "").contains("`echo one` ran: “one”."), "{picture}");
        }
    }
    let piped = bench.rejoin(&["flow", "run", "test.flow.yaml"]).done();
    assert!(piped.stdout().contains(" `echo one` ran: “one”."), "{}", piped.stdout());
}
