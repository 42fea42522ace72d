//! `notify` of the configuration: a sign at the end of a long turn of `rejoin chat`.

use std::fs;

use crate::support::{Bench, Screen, eventually};

const BELL: &str = "\u{7}";

/// All that is printed during a chat of one turn.
fn one_turn(bench: &Bench, prompt: &str) -> Option<String> {
    let mut screen = Screen::open(bench, "chat -a demo")?;
    screen.says("demo", prompt).shows("✓").shows("demo › ");
    let raw = screen.raw();
    screen.types("/quit\r");
    screen.ends(0);
    Some(raw)
}

#[test]
fn the_bell_rings_at_the_end_of_a_long_turn_only() {
    let bench = Bench::new();
    let Some(raw) = one_turn(&bench, "short") else { return };
    assert!(!raw.contains(BELL), "{raw:?}");
    bench.config("notify_after = 1");
    assert!(one_turn(&bench, "SLEEP 1.2").unwrap().contains(BELL));
    bench.config("notify = \"off\"\nnotify_after = 0");
    assert!(!one_turn(&bench, "short").unwrap().contains(BELL));
    bench.config("notify = \"terminal\"\nnotify_after = 0");
    assert!(one_turn(&bench, "short").unwrap().contains("\u{1b}]9;rejoin: demo is done\u{7}"));
}

#[test]
fn a_command_is_told_what_happened() {
    let bench = Bench::new();
    let told = bench.lab.root().join("told");
    let script = format!("echo \"$1\" >> {}", told.display());
    bench.config(&format!("notify = ['sh', '-c', '{script}', 'notify']\nnotify_after = 0"));
    let Some(mut screen) = Screen::open(&bench, "chat -a demo") else { return };
    screen.says("demo", "ASK").shows("Esc declines").types("1").shows("✓").says("demo", "/quit");
    screen.ends(0);
    let both = "rejoin: Tea or coffee?\nrejoin: demo is done\n";
    eventually("the notifications", || fs::read_to_string(&told).ok().filter(|told| told == both));
}

#[test]
fn a_way_that_there_is_not_is_refused_with_its_place() {
    let bench = Bench::new();
    bench.config("notify = \"fanfare\"");
    bench.rejoin(&["ls"]).ends(2).tells(&["config.toml:1:", "\"bell\", \"terminal\", \"off\", or a command"]);
    bench.config("notify = []");
    bench.rejoin(&["ls"]).ends(2).tells(&["config.toml:1:", "or a command as a list of words"]);
}
