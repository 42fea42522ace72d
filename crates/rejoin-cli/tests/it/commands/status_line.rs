//! What a person at a terminal sees while an agent works, as it stands on the screen.

use super::shown::redacted;
use crate::support::{Bench, Screen};

const CTRL_C: &str = "\u{3}";
const SPINNER: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/// Without colours, on a terminal so wide.
fn on_screen(bench: &Bench, args: &str, columns: usize) -> Option<Screen> {
    Screen::sized(bench, args, &[("NO_COLOR", "1")], (columns, 24))
}

/// Snapshots without what differs from run to run.
pub(super) fn settled(bench: &Bench) -> [insta::internals::SettingsBindDropGuard; 2] {
    let outer = redacted(bench);
    let mut settings = insta::Settings::clone_current();
    settings.add_filter("[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]", "⠿");
    settings.add_filter(r"· \d+ s\b", "· [N] s");
    [outer, settings.bind_to_scope()]
}

#[test]
fn what_the_agent_does_is_told_while_it_does_it_and_leaves_no_trace() {
    for columns in [40, 80, 200] {
        let bench = Bench::new();
        let waits = "echo a rather long command; sleep 1.1; until test -e go; do sleep 0.05; done";
        let args = &format!("run -a demo 'MARK-a THINK TOOL-RUN [{waits}]'");
        let Some(mut screen) = on_screen(&bench, args, columns) else { return };
        let _guards = settled(&bench);
        // The time is the turn's; the call began a little later, and has its own from one second on.
        screen.shows("⚙ shell echo a rather").shows("⚙ shell echo a rather").shows(" · 2 s");
        insta::assert_snapshot!(format!("status_at_{columns}_columns"), screen.picture());
        bench.file("go", "");
        screen.shows("SEEN n=1").shows("✓ ").shows("code=0");
        insta::assert_snapshot!(format!("no_trace_at_{columns}_columns"), screen.picture());
        assert!(!screen.picture().contains(SPINNER), "{}", screen.picture());
        screen.ends_here();
    }
}

#[test]
fn a_pause_in_the_middle_of_a_line_is_told_below_it() {
    let bench = Bench::new();
    bench.file("half.txt", "a line that is not ");
    let Some(mut screen) = on_screen(&bench, "run -a demo 'RECITE half.txt HANG'", 80) else { return };
    screen.shows("a line that is not").shows("waiting for the agent");
    let picture = screen.picture();
    let lines: Vec<&str> = picture.lines().collect();
    assert_eq!(lines[lines.len() - 2], "a line that is not", "{picture}");
    assert!(lines[lines.len() - 1].contains("waiting for the agent · "), "{picture}");
    screen.types(CTRL_C).shows("stopping… again to end it now").types(CTRL_C).shows("■ cancelled");
    let picture = screen.shows("code=130").picture();
    assert!(picture.contains("a line that is not\n■ cancelled\n"), "{picture}");
    screen.ends_here();
}

#[test]
fn ctrl_c_is_answered_at_once_and_the_second_one_ends_it() {
    let bench = Bench::new();
    let Some(mut screen) = on_screen(&bench, "run -a demo HANG", 80) else { return };
    screen.shows("waiting for the model").types(CTRL_C).shows("stopping… again to end it now");
    screen.types(CTRL_C).shows("■ cancelled").shows("go on with `rejoin run -r ").shows("\"go on\"`");
    screen.ends(130);
    bench.comes_to_rest();
}

#[test]
fn a_session_is_resuming_until_the_agent_has_named_it() {
    let bench = Bench::after_a_turn();
    let Some(mut screen) = on_screen(&bench, "run -c HANG-EARLY", 80) else { return };
    screen.shows(" resuming ").shows(" · 1 s");
    assert!(!screen.raw().contains("resumed") && !screen.raw().contains('●'), "{}", screen.raw());
    screen.types(CTRL_C).shows("stopping…").types(CTRL_C).shows("● demo · resuming ").shows("■ cancelled");
    screen.ends(130);
    let shown = bench.rejoin(&["show"]).done();
    assert!(shown.stdout().contains(" · resuming "), "{}", shown.stdout());
    let mut screen = on_screen(&bench, "run -c 'hello MARK-b'", 80).unwrap();
    screen.shows("● demo · resumed ").shows("✓ ");
    let picture = screen.shows("code=0").picture();
    assert!(!picture.contains("resuming"), "{picture}");
    screen.ends_here();
}

#[test]
fn who_wants_no_line_or_has_no_terminal_for_it_gets_none() {
    let bench = Bench::new();
    let slow = "run -a demo 'SLEEP 0.3 MARK-a'";
    for (args, env) in [(slow.to_owned(), ("TERM", "dumb")), (format!("{slow} --quiet"), ("NO_COLOR", "1"))] {
        let Some(mut screen) = Screen::with(&bench, &args, &[env]) else { return };
        screen.shows("marks=MARK-a").shows("code=0");
        assert!(!screen.raw().contains('\u{1b}') && !screen.raw().contains(SPINNER), "{:?}", screen.raw());
        let talks = screen.picture().contains("○ demo");
        assert_eq!(talks, !args.contains("quiet"), "{}", screen.picture());
        screen.ends_here();
    }
    let piped = bench.rejoin(&["run", "-a", "demo", "SLEEP 0.3"]).done();
    assert!(!piped.stderr().contains(SPINNER), "{}", piped.stderr());
    let quiet = bench.rejoin(&["run", "-q", "-a", "demo", "hello"]).done();
    assert_eq!(quiet.stderr(), "");
    bench
        .rejoin(&["run", "-q", "-a", "demo", "FAIL quota no more"])
        .ends(1)
        .tells(&["✗ failed: limit reached"]);
}

#[test]
fn a_dumb_terminal_hears_that_the_turn_is_being_stopped() {
    let bench = Bench::new();
    let Some(mut screen) = Screen::with(&bench, "run -a demo 'SLEEP 30'", &[("TERM", "dumb")]) else {
        return;
    };
    screen.shows("⚙ sleep").types(CTRL_C).shows("stopping… again to end it now\n").shows("■ cancelled");
    screen.ends(130);
}

#[test]
fn thinking_is_folded_shown_whole_or_left_out() {
    let bench = Bench::new();
    let words = "The user wants to see a thought, so here is one.";
    for (flag, mark) in [("", "  ✻ "), ("--thinking full", "  ┊ "), ("--thinking off", "")] {
        let Some(mut screen) = on_screen(&bench, &format!("run -a demo {flag} THINK"), 80) else { return };
        let picture = screen.shows("code=0").picture();
        match mark {
            "" => assert!(!picture.contains(words), "{picture}"),
            mark => assert!(picture.contains(&format!("{mark}{words}\n")), "{picture}"),
        }
        screen.ends_here();
    }
    let piped = bench.rejoin(&["run", "-a", "demo", "THINK"]).done();
    assert!(!piped.stderr().contains(words), "{}", piped.stderr());
    bench.rejoin(&["run", "-a", "demo", "--thinking", "full", "THINK"]).done().tells(&[words]);
    let shown = |args: &[&str]| bench.rejoin(args).done().stdout().to_owned();
    assert!(shown(&["show"]).contains(&format!("  ✻ {words}\n")));
    assert!(shown(&["show", "--thinking", "full"]).contains(&format!("  ┊ {words}\n")));
    assert!(!shown(&["show", "--thinking", "off"]).contains(words));
}

#[test]
fn a_turn_that_waits_for_another_one_says_so() {
    let bench = Bench::after_a_turn();
    let mut first = bench.next("HANG").start();
    first.hears("session");
    let Some(mut screen) = on_screen(&bench, "run -c --wait 'me too'", 80) else { return };
    screen.shows("waiting while the conversation is in use · 1 s").types(CTRL_C);
    screen.shows("cancelled while waiting for conversation");
    screen.ends(130);
    first.kill();
    bench.comes_to_rest();
}
