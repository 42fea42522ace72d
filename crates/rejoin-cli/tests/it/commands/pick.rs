//! `-i`: picking a conversation, with somebody at the keyboard.

use crate::support::{Bench, Screen};

const CTRL_R: &str = "\u{12}";
const DOWN: &str = "\u{1b}[B";
const ESC: &str = "\u{1b}";

/// Three conversations, `gamma` the newest.
fn bench() -> Bench {
    let bench = Bench::new();
    for word in ["alpha", "beta", "gamma"] {
        bench.first(&format!("fix {word} now")).done();
    }
    bench
}

#[test]
fn what_is_typed_filters_and_enter_shows() {
    let bench = bench();
    let Some(mut screen) = Screen::open(&bench, "ls -i") else { return };
    screen.shows("fix gamma").shows("fix alpha").shows("3/3").shows("Enter shows");
    screen.types("BET").shows("1/3").types("\r").shows("conversation ").shows("> fix beta now");
    screen.ends(0);
    let mut screen = Screen::open(&bench, "show -i --tree").unwrap();
    screen.shows("3/3").types(DOWN).types(DOWN).types("\r").shows("demo · fix alpha now").shows("← head");
    screen.ends(0);
}

#[test]
fn only_what_the_flags_leave_is_offered() {
    let bench = bench();
    bench.rejoin(&["tag", "@~1", "+odd"]).done();
    let Some(mut screen) = Screen::open(&bench, "ls -i --tag odd") else { return };
    screen.shows("fix beta").shows("1/1").types("\r").shows("> fix beta now");
    screen.ends(0);
    bench.rejoin(&["ls", "-i", "--tag", "od"]).ends(4).tells(&["did you mean \"odd\"?"]);
}

#[test]
fn ctrl_r_goes_on_with_it() {
    let bench = bench();
    let Some(mut screen) = Screen::open(&bench, "ls -i") else { return };
    screen
        .shows("3/3")
        .types("alpha")
        .shows("1/3")
        .types(CTRL_R)
        .shows("rejoin chat -r ")
        .shows("fix alpha now");
    screen.says("demo", "and now").shows("● demo · resumed").says("demo", "/quit");
    screen.ends(0);
}

#[test]
fn esc_and_ctrl_c_leave_without_one() {
    let bench = bench();
    for key in [ESC, "\u{3}", "\u{4}"] {
        let Some(mut screen) = Screen::open(&bench, "ls -i") else { return };
        screen.shows("3/3").types("zzz").shows("0/3").types("\r").types(key);
        screen.ends(130);
    }
}

#[test]
fn it_needs_a_terminal_and_something_to_pick() {
    let bench = bench();
    for args in [&["ls", "-i"], &["show", "-i"]] {
        bench.rejoin(args).ends(2).tells(&["needs a terminal"]);
    }
    bench.rejoin(&["ls", "-i", "--json"]).ends(2);
    bench.rejoin(&["ls", "-i"]).within(bench.outside("empty")).ends(4).tells(&["no conversation here yet"]);
}
