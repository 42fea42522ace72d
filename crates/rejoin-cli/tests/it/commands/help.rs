//! Help, version, and what clap says about mistakes.

use crate::support::Bench;

/// One snapshot per command: help cannot rot unseen.
#[test]
fn help_of_every_command() {
    help_of(&Bench::new(), &[]);
}

/// The help of a command, and of those below it.
fn help_of(bench: &Bench, command: &[&str]) {
    let said = bench.rejoin(command).with(&["--help"]).done();
    let name = if command.is_empty() { "rejoin".to_owned() } else { command.join("_") };
    insta::assert_snapshot!(format!("help_of_{name}"), said.stdout());
    assert_eq!(said.stderr(), "");
    let listed = said.stdout().lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = listed.take_while(|line| !line.is_empty());
    for below in listed.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help") {
        help_of(bench, &[command, &[below]].concat());
    }
}

#[test]
fn the_version_is_printed() {
    let said = Bench::new().rejoin(&["--version"]).done();
    assert_eq!(said.stdout(), format!("rejoin {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn hidden_commands_are_not_shown() {
    let bench = Bench::new();
    for args in [&["--help"][..], &["help"], &[]] {
        let said = bench.rejoin(args).ends(if args.is_empty() { 2 } else { 0 });
        assert!(!format!("{}{}", said.stdout(), said.stderr()).contains("__"));
    }
}

#[test]
fn an_unknown_flag_suggests_the_nearest() {
    let bench = Bench::new();
    let said = bench.rejoin(&["run", "--agnet", "demo", "hello"]).ends(2);
    said.tells(&["--agnet", "a similar argument exists: '--agent'"]);
    bench.rejoin(&["agnets"]).ends(2).tells(&["agnets", "agents"]);
}

#[test]
fn a_wrong_value_lists_the_right_ones() {
    let bench = Bench::new();
    let wrong = |args: &[&str]| bench.first("hello").with(args).ends(2);
    wrong(&["--permissions", "all"]).tells(&["read", "edit", "full", "agent"]);
    wrong(&["--scope", "all"]).tells(&["shared", "own"]);
    wrong(&["--timeout", "soon"]).tells(&["\"soon\" is not a time", "90s"]);
    bench.rejoin(&["run", "hello", "--output", "xml"]).ends(2).tells(&["text", "json", "stream-json"]);
}

#[test]
fn every_exit_code_is_the_documented_one() {
    let bench = Bench::new();
    bench.first("hello").done();
    bench.first("FAIL other x").ends(1);
    bench.first("hello").with(&["--no-such-flag"]).ends(2);
    bench.first("SLOW 500").with(&["--timeout", "300ms"]).ends(3);
    bench.rejoin(&["run", "-r", "4f1c2a9e", "x"]).ends(4);
    bench.file(".rejoin.toml", "permissions = \"edit\"\n");
    bench.first("hello").ends(5);
    // 6, 7 and 130 need more than one line: see the tests of failures.
}
