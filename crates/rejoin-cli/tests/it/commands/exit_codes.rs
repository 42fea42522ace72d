//! One cause has one exit code, whatever command meets it.

use crate::support::{Bench, Call, REJOIN};

/// Everything that takes a file or a directory, with a name in its place.
fn with_a_file(name: &str) -> Vec<Vec<&str>> {
    vec![
        vec!["run", "-a", "demo", "-f", name],
        vec!["run", "-a", "demo", "--attach", name, "x"],
        vec!["edit", "-f", name],
        vec!["import", name],
        vec!["flow", "run", name],
        vec!["flow", "validate", name],
        vec!["flow", "graph", name],
    ]
}

#[test]
fn a_file_that_is_not_there_is_not_found_and_a_directory_is_no_file() {
    let bench = Bench::after_a_turn();
    bench.subdir("dir");
    for (name, code) in [("missing", 4), ("dir", 2)] {
        for args in with_a_file(name) {
            let said = bench.rejoin(&args).ends(code);
            said.tells(&[name]);
            assert_eq!(said.stdout(), "", "{args:?}");
        }
        let named = bench.project().join(name);
        bench.rejoin(&["ls"]).env("REJOIN_CONFIG", &named).ends(code).tells(&["cannot read ", name]);
    }
    bench.rejoin(&["run", "-a", "demo", "--cwd", "missing", "x"]).ends(4);
    bench.rejoin(&["run", "-a", "demo", "--session-dir", "missing", "x"]).ends(4);
    bench.rejoin(&["-C", "missing", "ls"]).ends(4);
    bench.rejoin(&["mv", "missing", "missing, too"]).ends(4);
}

#[test]
fn a_working_directory_that_is_gone_is_not_found() {
    let bench = Bench::after_a_turn();
    let commands = [
        "run -a demo x",
        "ls",
        "show",
        "why",
        "retry",
        "edit -f -",
        "search x",
        "stats",
        "branch --at 1",
        "rewind",
        "name x",
        "exists",
        "tag +x",
        "rm @ --yes",
        "prune --older-than 1d",
        "export",
        "fsck",
        "config",
        "flow ls",
        "flow show",
        "flow resume",
    ];
    for command in commands {
        let dir = bench.outside("gone");
        let script = format!("rmdir '{}'; exec {REJOIN} {command}", dir.display());
        let said = Call::of(&bench, "sh", &["-c", &script]).within(&dir).ends(4);
        assert!(said.stderr().contains("director"), "{command}: {}", said.stderr());
    }
}
